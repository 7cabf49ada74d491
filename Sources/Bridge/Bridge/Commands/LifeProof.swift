import Time

/// The proof that this bridge has lived after it has published results: other bridges, which have left the results to it, wait for one.
struct LifeProof: Sendable {
    /// Whether other bridges are known.
    var hasPeers = false
    /// When the proof has to be given; nil if none is owed.
    private(set) var due: Instant?
    /// Until when one is given although no other bridge knows the tags of this one.
    private var forcedUntil: Instant?

    /// How long after a result it is given. The results of this time share it.
    private static let delay = Duration.milliseconds(500)

    /// Plans a proof after the result of a command to a tag.
    mutating func plan(after requester: Requester, at now: Instant) {
        if hasPeers, requester.trace != 0, due == nil { due = now + Self.delay }
    }

    /// Handles results that another bridge has left to this one although it does not know the tag.
    mutating func force(until instant: Instant) { forcedUntil = max(forcedUntil ?? instant, instant) }

    /// Whether it is given although no other bridge knows the tags of this one.
    func isForced(at now: Instant) -> Bool { forcedUntil.map { now <= $0 } ?? false }

    /// Returns whether it has to be given now.
    mutating func takeDue(at now: Instant) -> Bool {
        due.takeDue(at: now)
    }
}
