import ProtobufWire

/// The state after a request: of start, status, list, erase and erase all.
///
/// Source: extensions 1001, 1003, 1004, 1007 and 1008 of `Response`.
public struct MotionStatusResponse: Equatable, Sendable, WireMessage {
    /// The state.
    public var status: MotionStatus?

    /// Creates an empty response.
    public init() {}

    /// Creates a response.
    public init(_ status: MotionStatus) {
        self.status = status
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &status)
    }
}

/// The state after stop.
///
/// Source: `DataCollectionStopResponse`, extension 1002 of `Response`.
public struct MotionStopResponse: Equatable, Sendable, WireMessage {
    /// When collecting ended, on the tag's clock.
    public var timestamp: UInt32?
    /// The state.
    public var status: MotionStatus?

    /// Creates an empty response.
    public init() {}

    /// Creates a response.
    public init(_ status: MotionStatus, timestamp: UInt32? = nil) {
        self.status = status
        self.timestamp = timestamp
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &timestamp)
        try fields.optional(2, &status)
    }
}

/// The state at the beginning of a transfer.
///
/// Source: `DataCollectionTrialDataResponse`, extension 1005 of `Response`.
public struct MotionDownloadResponse: Equatable, Sendable, WireMessage {
    /// The state.
    public var status: MotionStatus?

    /// Creates an empty response.
    public init() {}

    /// Creates a response.
    public init(_ status: MotionStatus) {
        self.status = status
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(4, &status)
    }
}
