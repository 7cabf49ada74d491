import JacquardProtocol
import Time

/// The tags that blink until they are found. Empty while none does.
struct FindTable: Sendable {
    /// A part of the blinking that is due.
    struct Round: Hashable, Sendable {
        let tag: TagID
        let duration: Duration
    }

    private struct Run {
        let until: Instant
        var nextRound: Instant
    }

    /// How long the tag blinks after one command. A new one follows, because other commands interrupt the blinking, and gear
    /// may be attached meanwhile.
    static let round = Duration.seconds(10)

    private var runs: [TagID: Run] = [:]
    /// When to call ``takeDue(at:)``; nil while no tag blinks.
    private(set) var deadline: Instant?

    /// Whether no tag blinks.
    var isEmpty: Bool { runs.isEmpty }

    /// Whether a tag blinks.
    func contains(_ tag: TagID) -> Bool { runs[tag] != nil }

    /// The tags that blink, in order.
    var tags: [TagID] { runs.keys.sorted { $0.text < $1.text } }

    /// Starts, or continues for another time. The first round has begun.
    mutating func start(_ tag: TagID, for duration: Duration, at now: Instant) {
        runs[tag] = Run(until: now + duration, nextRound: now + Self.round)
        updateDeadline()
    }

    /// Ends.
    ///
    /// - Returns: when the tag stops blinking by itself; nil if it was not blinking.
    mutating func end(_ tag: TagID) -> Instant? {
        defer { updateDeadline() }
        return runs.removeValue(forKey: tag).map { min($0.until, $0.nextRound) }
    }

    /// Returns the rounds that are due, and the tags whose time is over.
    mutating func takeDue(at now: Instant) -> (rounds: [Round], ended: [TagID]) {
        guard let deadline, deadline <= now else { return ([], []) }
        let ended = tags.filter { runs[$0].map { $0.until <= now } ?? false }
        for tag in ended { runs[tag] = nil }
        var rounds: [Round] = []
        for tag in tags {
            guard let run = runs[tag], run.nextRound <= now else { continue }
            rounds.append(Round(tag: tag, duration: min(Self.round, run.until - now)))
            runs[tag]?.nextRound = now + Self.round
        }
        updateDeadline()
        return (rounds, ended)
    }

    private mutating func updateDeadline() {
        deadline = runs.values.map { min($0.until, $0.nextRound) }.min()
    }
}
