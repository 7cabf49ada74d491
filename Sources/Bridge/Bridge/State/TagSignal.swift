import Time

/// When a tag was received, and how strongly.
struct TagSignal: Sendable {
    /// When it was last received; nil if not since the start.
    var lastSeen: Timestamp?
    /// The latest strength of the current link, or since the last one.
    var measured: Timestamped<Int>?
    private var throttle = SignalThrottle()

    /// Handles a received signal strength.
    ///
    /// - Returns: whether to publish it.
    mutating func received(_ rssi: Int, at now: Timestamp) -> Bool {
        measured = Timestamped(value: rssi, at: now)
        return throttle.admits(rssi, at: now.instant)
    }

    /// Notes a signal strength that is published regardless.
    mutating func published(_ rssi: Int, at now: Instant) {
        throttle.published(rssi, at: now)
    }
}
