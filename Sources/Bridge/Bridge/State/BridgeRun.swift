import Time

/// What is true of this run of the bridge: its beginning, and its end.
struct BridgeRun: Sendable {
    let topics: BridgeTopics
    /// A few characters that are unique to this start, such as `9f3c`.
    let boot: String
    let startedAt: Timestamp
    /// Encodes the counters of tags, which begin with the run.
    let statsPayload: StatsPayload
    /// nil before the first connection.
    var isBrokerConnected: Bool?
    /// Whether the bridge is about to go to another broker.
    var isLeavingBroker = false
    /// nil before ``BridgeEvent/stopping``.
    var shutdown: Shutdown?

    init(_ topics: BridgeTopics, boot: String, startedAt: Timestamp) {
        (self.topics, self.boot, self.startedAt) = (topics, boot, startedAt)
        statsPayload = StatsPayload(boot: boot)
    }
}
