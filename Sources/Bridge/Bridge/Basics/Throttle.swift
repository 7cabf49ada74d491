import Time

/// Limits an action to once per interval, and remembers when a held-back one is due.
struct Throttle: Sendable {
    /// The shortest time between two actions. A new value applies from the next action that is held back.
    var interval: Duration
    /// Held-back actions are due at multiples of it.
    private let tick: Duration
    private var last: Instant?
    /// When a held-back action is due.
    private(set) var due: Instant?

    /// Whether an action is held back.
    var isHolding: Bool { due != nil }

    /// - Parameters:
    ///   - interval: the shortest time between two actions.
    ///   - tick: held-back actions wait for the next multiple of it, so that those of many throttles share a wake-up;
    ///     zero: they don't wait.
    init(every interval: Duration, tick: Duration = .zero) {
        self.interval = interval
        self.tick = tick
    }

    /// Returns whether the action may happen now; if not, it becomes due later.
    mutating func admits(at now: Instant) -> Bool {
        guard due == nil else { return isDue(at: now) }
        if let next = last.map({ $0 + interval }), now < next {
            due = next.roundedUp(to: tick)
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

extension Instant {
    /// The first multiple of a tick that is not earlier.
    fileprivate func roundedUp(to tick: Duration) -> Instant {
        let step = tick.microseconds
        guard step > 0 else { return self }
        let ticks = ((sinceBoot + .nanoseconds(999)).microseconds + step - 1) / step
        return Instant(sinceBoot: .microseconds(ticks * step))
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
