import ProtobufWire

/// The five texts that identify a recorded session on the tag.
///
/// The names differ from those of the schema: the session is its `trial_id`, the group its `session_id`.
public struct MotionSessionID: Hashable, Sendable {
    /// The session's own name.
    public var session: String
    /// The group of sessions.
    public var group: String
    /// The campaign.
    public var campaign: String
    /// The product.
    public var product: String
    /// The subject.
    public var subject: String

    /// The most characters of each text in a recording. Source: JacquardSDKiOS.
    public static let longest = 30
    /// The most bytes of each text, in UTF-8: four for each character. A character can have more, and the five texts fit into a packet
    /// of 1,024 bytes with the rest of each request.
    public static let longestBytes = 4 * longest

    /// Creates an identification. The defaults are those of the SDK.
    public init(
        session: String, group: String = "IMU_Group", campaign: String = "IMU_Campaign",
        product: String = "IMU_Product", subject: String = "IMU_Subject"
    ) {
        self.session = session
        self.group = group
        self.campaign = campaign
        self.product = product
        self.subject = subject
    }

    /// Whether each text has a permitted length.
    public var isValid: Bool { [session, group, campaign, product, subject].allSatisfy(Self.isValid) }

    /// Whether a text has a permitted length.
    public static func isValid(_ text: String) -> Bool {
        (1...longestBytes).contains(text.utf8.count) && text.count <= longest
    }
}

/// Which data is collected, and where it goes.
///
/// Source: `DataCollectionMetadata` of the schema.
public struct MotionMetadata: Equatable, Sendable, WireMessage {
    /// The campaign.
    public var campaign: String?
    /// The group; `session_id` in the schema.
    public var group: String?
    /// The session; `trial_id` in the schema.
    public var session: String?
    /// The subject.
    public var subject: String?
    /// The destination of the data.
    public var mode: MotionMode?
    /// Purpose unknown; no SDK sets it.
    public var actionID: UInt32?
    /// The sensors; 0 is the tag's own.
    public var sensors: [UInt32] = []
    /// Purpose unknown; no SDK sets it.
    public var customData: [UInt8]?
    /// The product.
    public var product: String?

    /// Creates metadata without values.
    public init() {}

    /// Creates the metadata of a session.
    public init(_ id: MotionSessionID, mode: MotionMode, sensors: [UInt32] = []) {
        campaign = id.campaign
        group = id.group
        session = id.session
        subject = id.subject
        product = id.product
        self.mode = mode
        self.sensors = sensors
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &campaign)
        try fields.optional(2, &group)
        try fields.optional(3, &session)
        try fields.optional(4, &subject)
        try fields.optional(5, &mode)
        try fields.optional(6, &actionID)
        try fields.repeated(7, &sensors)
        try fields.optional(8, &customData)
        try fields.optional(9, &product)
    }
}
