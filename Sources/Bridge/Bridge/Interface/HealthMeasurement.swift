/// Measurements of the running process.
public struct HealthMeasurement: Equatable, Sendable {
    /// Resident memory in kB.
    public var residentKilobytes: Int
    /// Number of messages queued for the broker.
    public var queued: Int
    /// Number of messages dropped since the start.
    public var dropped: Int
    /// Number of messages acknowledged by the broker since the start.
    public var acknowledged: Int
    /// Whether there is a connection to the broker.
    public var isBrokerConnected: Bool
    /// Number of reconnects to the broker since the start.
    public var brokerReconnects: Int
    /// The times from the notification of a gesture to its acknowledgement.
    public var gestureDurations: DurationHistogram
    /// The files that currently cannot be written.
    public var unwritable: [UnwritableFile]
    /// The facts that are no longer published because they have ended several connections.
    public var abandoned: [Outbox.AbandonedFact]

    /// Creates a measurement.
    public init(
        residentKilobytes: Int, queued: Int, dropped: Int, acknowledged: Int = 0, isBrokerConnected: Bool = true,
        brokerReconnects: Int, gestureDurations: DurationHistogram = .gestures, unwritable: [UnwritableFile] = [],
        abandoned: [Outbox.AbandonedFact] = []
    ) {
        self.residentKilobytes = residentKilobytes
        self.queued = queued
        self.dropped = dropped
        self.acknowledged = acknowledged
        self.isBrokerConnected = isBrokerConnected
        self.brokerReconnects = brokerReconnects
        self.gestureDurations = gestureDurations
        self.unwritable = unwritable
        self.abandoned = abandoned
    }
}
