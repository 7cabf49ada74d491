import ProtobufWire

/// A session in the tag's memory.
public struct StoredMotionSession: Hashable, Sendable {
    /// The five texts.
    public var id: MotionSessionID
    /// The size of the file in bytes.
    public var byteCount: UInt32
    /// The CRC-16 of the file, see ``CRC16``.
    public var crc: UInt16

    /// Creates a session.
    public init(id: MotionSessionID, byteCount: UInt32, crc: UInt16) {
        self.id = id
        self.byteCount = byteCount
        self.crc = crc
    }
}

/// One entry of a list of sessions. A tag without sessions sends one entry with a total of 0.
///
/// Source: `DataCollectionTrialListNotification`, extension 1004 of `Notification`.
public struct MotionSessionEntry: Equatable, Sendable, WireMessage {
    var trial: Trial?
    /// The number of sessions.
    public var total: UInt32?
    /// The position of this one, from 0.
    public var index: UInt32?

    /// Creates an empty entry.
    public init() {}

    /// Creates the entry of a session; nil for a list without sessions.
    public init(_ session: StoredMotionSession?, index: UInt32, total: UInt32) {
        trial = session.map(Trial.init)
        self.index = session == nil ? nil : index
        self.total = total
    }

    /// The session; nil if the entry has none.
    public var session: StoredMotionSession? {
        guard let trial, let name = trial.session else { return nil }
        let data = trial.data.first
        let file = data?.files.first
        let id = MotionSessionID(
            session: name, group: trial.group ?? "", campaign: trial.campaign ?? "", product: trial.product ?? "",
            subject: data?.subject ?? "")
        return StoredMotionSession(
            id: id, byteCount: file?.byteCount ?? 0, crc: UInt16(truncatingIfNeeded: file?.crc ?? 0))
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(2, &trial)
        try fields.optional(3, &total)
        try fields.optional(4, &index)
    }

    /// `DataCollectionTrialList` of the schema.
    struct Trial: Equatable, Sendable, WireMessage {
        var session: String?
        var data: [TrialData] = []
        var campaign: String?
        var group: String?
        var product: String?

        init() {}

        init(_ stored: StoredMotionSession) {
            session = stored.id.session
            campaign = stored.id.campaign
            group = stored.id.group
            product = stored.id.product
            var file = TrialFile()
            file.sensor = 0
            file.byteCount = stored.byteCount
            file.crc = UInt32(stored.crc)
            var first = TrialData()
            first.subject = stored.id.subject
            first.files = [file]
            data = [first]
        }

        mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
            try fields.optional(1, &session)
            try fields.repeated(2, &data)
            try fields.optional(3, &campaign)
            try fields.optional(4, &group)
            try fields.optional(5, &product)
        }
    }

    /// `DataCollectionTrialData` of the schema.
    struct TrialData: Equatable, Sendable, WireMessage {
        var subject: String?
        var files: [TrialFile] = []

        mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
            try fields.optional(1, &subject)
            try fields.repeated(2, &files)
        }
    }

    /// `DataCollectionTrialSensorData` of the schema.
    struct TrialFile: Equatable, Sendable, WireMessage {
        var sensor: UInt32?
        var formatVersion: UInt32?
        var byteCount: UInt32?
        var crc: UInt32?

        mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
            try fields.optional(1, &sensor)
            try fields.optional(2, &formatVersion)
            try fields.optional(3, &byteCount)
            try fields.optional(4, &crc)
        }
    }
}
