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

    /// Describes a measurement.
    public init(
        residentKilobytes: Int, queued: Int, dropped: Int, acknowledged: Int = 0, isBrokerConnected: Bool = true,
        brokerReconnects: Int
    ) {
        self.residentKilobytes = residentKilobytes
        self.queued = queued
        self.dropped = dropped
        self.acknowledged = acknowledged
        self.isBrokerConnected = isBrokerConnected
        self.brokerReconnects = brokerReconnects
    }
}
