import Time

/// What the bridge keeps to explain what has happened: its health, recordings, the log, traces and examinations.
struct Diagnostics: Sendable {
    var health: HealthMonitor
    var recorder: TrafficRecorder
    var log: LogStream
    var examinations = Examinations()
    var incidents = TagIncidents()
    /// The time of day of traces.
    var clock: TraceClock
    /// From the decision to connect a tag to its connection.
    var connectDurations = DurationHistogram.connects

    init(_ topics: BridgeTopics, damage: DamagedState?, startedAt: Timestamp) {
        health = HealthMonitor(damage: damage)
        recorder = TrafficRecorder(topic: topics.gatt)
        log = LogStream(topic: topics.log, bridge: topics.instance)
        clock = TraceClock(startedAt)
    }

    /// When something becomes due; nil if nothing is.
    var deadline: Instant? {
        var deadline = recorder.recording?.until.instant
        deadline.lower(to: log.deadline)
        return deadline
    }
}
