import Time

/// Decides when to probe a silent broker and when to disconnect: within one and a half times the interval.
///
/// libmosquitto alone would take twice the interval: it waits a whole interval for the response to its probe.
struct KeepAlive {
    enum Action: Equatable {
        /// Check again at this time.
        case wait(until: Instant)
        /// Let the library probe, which it does when an interval has passed without a packet in either direction.
        case probe
        /// The probe was not answered.
        case giveUp
    }

    private let interval: Duration
    private(set) var lastRead: Instant
    private var lastWrite: Instant
    private var probed: Instant?
    private var postponed: Instant?

    init(interval: Duration, now: Instant) {
        self.interval = interval
        lastRead = now
        lastWrite = now
    }

    /// How late a check may be, so that it shares a wake-up with other timers.
    var accuracy: Duration { interval / 20 }

    mutating func read(at now: Instant) {
        lastRead = now
        probed = nil
    }

    mutating func written(at now: Instant) {
        lastWrite = now
    }

    /// Handles a requested probe. `wasSent` is false if the library did not send it: its clock, unlike this one, stops
    /// while the machine sleeps.
    mutating func probed(at now: Instant, wasSent: Bool) {
        if wasSent { probed = now } else { postponed = now + interval / 10 }
    }

    /// Returns the action to perform.
    func action(at now: Instant) -> Action {
        let due = due
        guard now >= due else { return .wait(until: due) }
        return probed == nil ? .probe : .giveUp
    }

    /// A probe starts after one interval and has 0.4 of one to be answered; the accuracy of two checks takes the rest.
    private var due: Instant {
        if let probed { return probed + interval * 2 / 5 }
        let silentSince = min(lastRead, lastWrite)
        return max(silentSince + interval, postponed ?? silentSince)
    }
}
