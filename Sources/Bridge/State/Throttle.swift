import Time

/// Lets something happen at most once in an interval, and remembers what is overdue.
struct Throttle: Sendable {
    private let interval: Duration
    private var last: Instant?
    /// When what was held back may happen.
    private(set) var due: Instant?

    /// Whether something is held back.
    var isHolding: Bool { due != nil }

    init(every interval: Duration) {
        self.interval = interval
    }

    /// Whether it may happen now; if not, it is due later.
    mutating func admits(at now: Instant) -> Bool {
        guard due == nil else { return isDue(at: now) }
        if let next = last.map({ $0 + interval }), now < next {
            due = next
            return false
        }
        happened(at: now)
        return true
    }

    /// Whether something was held back until now.
    mutating func isDue(at now: Instant) -> Bool {
        guard let due, due <= now else { return false }
        happened(at: now)
        return true
    }

    /// It happens without asking.
    mutating func happened(at now: Instant) {
        last = now
        due = nil
    }
}
