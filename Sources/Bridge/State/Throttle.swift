/// Lets something happen at most once in an interval, and remembers what is overdue.
struct Throttle: Sendable {
    private let interval: Duration
    private var last: ContinuousClock.Instant?
    /// When what was held back may happen.
    private(set) var due: ContinuousClock.Instant?

    /// Whether something is held back. Stored, so that to ask for it copies no time.
    private(set) var isHolding = false

    init(every interval: Duration) {
        self.interval = interval
    }

    /// Whether it may happen now; if not, it is due later.
    mutating func admits(at now: ContinuousClock.Instant) -> Bool {
        guard due == nil else { return isDue(at: now) }
        if let next = last?.advanced(by: interval), now < next {
            due = next
            isHolding = true
            return false
        }
        happened(at: now)
        return true
    }

    /// Whether something was held back until now.
    mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
        guard let due, due <= now else { return false }
        happened(at: now)
        return true
    }

    /// It happens without asking.
    mutating func happened(at now: ContinuousClock.Instant) {
        last = now
        due = nil
        isHolding = false
    }
}
