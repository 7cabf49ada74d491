import ProtobufWire

/// Starts collecting.
///
/// Source: `DataCollectionStartRequest`, extension 1001 of `Request`.
public struct MotionStartRequest: Equatable, Sendable, WireMessage {
    /// The data to collect.
    public var metadata: MotionMetadata?

    /// Creates an empty request.
    public init() {}

    /// Creates a request.
    public init(_ metadata: MotionMetadata) {
        self.metadata = metadata
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &metadata)
    }
}

/// Stops collecting, or a transfer. The flag is stored as the result of the file; the iOS SDK sends true, Android false.
///
/// Source: `DataCollectionStopRequest`, extension 1002 of `Request`.
public struct MotionStopRequest: Equatable, Sendable, WireMessage {
    /// Whether an error ends the recording.
    public var isError: Bool?

    /// Creates an empty request.
    public init() {}

    /// Creates a request.
    public init(isError: Bool) {
        self.isError = isError
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &isError)
    }
}

/// A request without parameters, which is sent as a field of length 0: status, list of sessions, erasing all.
///
/// Source: `DataCollectionStatusRequest`, `DataCollectionTrialListRequest` and `DataCollectionEraseAllDataRequest`,
/// extensions 1003, 1004 and 1008 of `Request`. The second has filters that no SDK sets.
public struct MotionRequest: Equatable, Sendable, WireMessage {
    /// Creates a request.
    public init() {}

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {}
}

/// Starts the transfer of a session.
///
/// Source: `DataCollectionTrialDataRequest`, extension 1005 of `Request`.
public struct MotionDownloadRequest: Equatable, Sendable, WireMessage {
    /// The campaign.
    public var campaign: String?
    /// The group.
    public var group: String?
    /// The session.
    public var session: String?
    /// The subject.
    public var subject: String?
    /// The sensor; 0 is the tag's own.
    public var sensor: UInt32?
    /// The number of bytes that the client has already.
    public var offset: UInt32?
    /// The product.
    public var product: String?

    /// Creates an empty request.
    public init() {}

    /// Creates a request for a session from an offset on.
    public init(_ id: MotionSessionID, offset: UInt32) {
        campaign = id.campaign
        group = id.group
        session = id.session
        subject = id.subject
        sensor = 0
        self.offset = offset
        product = id.product
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &campaign)
        try fields.optional(2, &group)
        try fields.optional(3, &session)
        try fields.optional(4, &subject)
        try fields.optional(5, &sensor)
        try fields.optional(6, &offset)
        try fields.optional(7, &product)
    }
}

/// Erases a session.
///
/// Source: `DataCollectionEraseTrialDataRequest`, extension 1007 of `Request`.
public struct MotionEraseRequest: Equatable, Sendable, WireMessage {
    /// The campaign.
    public var campaign: String?
    /// The group.
    public var group: String?
    /// The session.
    public var session: String?
    /// The product.
    public var product: String?
    /// The subject.
    public var subject: String?

    /// Creates an empty request.
    public init() {}

    /// Creates a request for a session.
    public init(_ id: MotionSessionID) {
        campaign = id.campaign
        group = id.group
        session = id.session
        product = id.product
        subject = id.subject
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &campaign)
        try fields.optional(2, &group)
        try fields.optional(3, &session)
        try fields.optional(4, &product)
        try fields.optional(5, &subject)
    }
}
