import Time

/// Limits an action to once per interval, and remembers when a held-back one is due.
struct Throttle: Sendable {
    private let interval: Duration
    private var last: Instant?
    /// When a held-back action is due.
    private(set) var due: Instant?

    /// Whether an action is held back.
    var isHolding: Bool { due != nil }

    init(every interval: Duration) {
        self.interval = interval
    }

    /// Returns whether the action may happen now; if not, it becomes due later.
    mutating func admits(at now: Instant) -> Bool {
        guard due == nil else { return isDue(at: now) }
        if let next = last.map({ $0 + interval }), now < next {
            due = next
            return false
        }
        happened(at: now)
        return true
    }

    /// Returns whether a held-back action is due, and resets it.
    mutating func isDue(at now: Instant) -> Bool {
        guard let due, due <= now else { return false }
        happened(at: now)
        return true
    }

    /// Notes an action that happens regardless of the limit.
    mutating func happened(at now: Instant) {
        last = now
        due = nil
    }
}

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
        published(rssi, at: now)
        return true
    }

    /// Notes a value that is published regardless.
    mutating func published(_ rssi: Int, at now: Instant) {
        last = (rssi, now)
    }
}
