import Time

/// The number of lost messages since the start, and whether the losses are a problem: those of the last ten minutes
/// are.
struct LossCounters: Sendable {
    private var events = Counter()
    private var results = Counter()
    private var commands = Counter()

    private struct Counter: Sendable {
        var count = 0
        /// When the problem ends.
        var until: Instant?

        mutating func add(_ number: Int, at now: Instant) {
            guard number > 0 else { return }
            count += number
            until = now + HealthMonitor.memory
        }

        func problem(_ subject: String, at now: Instant, _ text: (Int) -> String) -> Problem? {
            guard let until, now < until else { return nil }
            return Problem(.eventsDropped, about: subject, text(count))
        }
    }

    mutating func lost(_ new: Outbox.Losses, at now: Instant) {
        events.add(new.events.values.reduce(0, +), at: now)
        results.add(new.results, at: now)
        commands.add(new.commands, at: now)
    }

    /// Returns one problem per kind of message.
    func problems(at now: Instant) -> [Problem] {
        [
            events.problem("", at: now) { "\($0) events were lost since the start: the broker was away too long" },
            results.problem("results", at: now) {
                "\($0) results were lost since the start: the broker was away too long"
            },
            commands.problem("commands", at: now) {
                "\($0) commands were not taken since the start: they came faster than the broker takes their results"
            },
        ].compactMap(\.self)
    }
}
