import Time

/// The counters of a tag, and when they are published.
struct TagStatistics: Sendable {
    var counters = TagCounters()
    private let payload: StatsPayload
    /// Published at most once a second, or less often if there are many tags; those of several tags in one wake-up.
    private var throttle = Throttle(every: .seconds(1), tick: .milliseconds(100))

    /// - Parameter payload: encodes the counters.
    init(_ payload: StatsPayload) {
        self.payload = payload
    }

    /// When a held-back publication is due; nil if there is none.
    var deadline: Instant? { throttle.due }

    /// The payload of `T/stats`.
    func bytes(at now: Timestamp) -> [UInt8] { payload.bytes(of: counters, at: now) }

    /// Sets the shortest time between two publications.
    mutating func setInterval(_ interval: Duration) {
        throttle.interval = interval
    }

    /// Returns whether to publish changed counters now; if not, they become due later.
    mutating func admits(at now: Instant) -> Bool { throttle.admits(at: now) }

    /// Returns whether a held-back publication is due.
    mutating func isDue(at now: Instant) -> Bool { throttle.isDue(at: now) }
}
