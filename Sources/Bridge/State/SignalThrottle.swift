import Time

/// Selects the signal strengths to publish: one every 30 s, or a change of 5 dB.
struct SignalThrottle: Sendable {
    private static let interval = Duration.seconds(30)
    private static let step: UInt = 5

    private var last: (rssi: Int, at: Instant)?

    /// Returns whether to publish a value.
    mutating func admits(_ rssi: Int, at now: Instant) -> Bool {
        if let last, (rssi &- last.rssi).magnitude < Self.step, now - last.at < Self.interval {
            return false
        }
        told(rssi, at: now)
        return true
    }

    /// Notes a value that is published regardless.
    mutating func told(_ rssi: Int, at now: Instant) {
        last = (rssi, now)
    }
}
