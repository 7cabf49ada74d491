/// What only the running process can measure about itself.
public struct HealthMeasurement: Hashable, Sendable {
    /// Memory in use, in kB.
    public var residentKilobytes: Int
    /// Messages that wait for the broker.
    public var queued: Int
    /// Messages that were dropped since the start.
    public var dropped: Int
    /// Messages that the broker has acknowledged since the start.
    public var acknowledged: Int
    /// Whether there is a connection to the broker.
    public var isBrokerConnected: Bool
    /// How often the connection to the broker was made again since the start.
    public var brokerReconnects: Int
    /// The files that cannot be written at present.
    public var unwritable: [UnwritableFile]

    /// Describes a measurement.
    public init(
        residentKilobytes: Int, queued: Int, dropped: Int, acknowledged: Int = 0, isBrokerConnected: Bool = true,
        brokerReconnects: Int, unwritable: [UnwritableFile] = []
    ) {
        self.residentKilobytes = residentKilobytes
        self.queued = queued
        self.dropped = dropped
        self.acknowledged = acknowledged
        self.isBrokerConnected = isBrokerConnected
        self.brokerReconnects = brokerReconnects
        self.unwritable = unwritable
    }
}

/// A file of the bridge that cannot be written.
public struct UnwritableFile: Hashable, Sendable {
    /// What the file is for.
    public enum Purpose: Hashable, Sendable, CaseIterable {
        /// The known tags.
        case state
        /// The metrics.
        case metrics
    }

    /// What the file is for.
    public let purpose: Purpose
    /// The file, or its folder.
    public let path: String
    /// Why it cannot be written, such as `No space left on device`.
    public let reason: String

    /// Describes a file that cannot be written.
    public init(_ purpose: Purpose, _ path: String, reason: String) {
        self.purpose = purpose
        self.path = path
        self.reason = reason
    }
}
