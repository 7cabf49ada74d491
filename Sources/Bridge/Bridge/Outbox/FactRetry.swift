import Time

/// Plans when facts are sent again that the broker may not have stored.
///
/// These are facts that were dropped because the broker has closed two connections while they were in flight, and facts
/// that a node of a cluster has acknowledged late several times. A cluster that loses a node does both to good facts.
/// Each retry of a bad fact ends a connection, so the pauses double, from a minute to an hour.
struct FactRetry: Sendable {
    private var due: Instant?
    private var pauses = Backoff(first: .seconds(60), longest: .seconds(3_600))

    /// Whether a retry is planned.
    var isPending: Bool { due != nil }

    /// Plans a retry, unless there is one. All facts share it.
    mutating func plan(at now: Instant) {
        if due == nil { due = now + pauses.next() }
    }

    /// - Returns: whether a retry is due. It is made once.
    mutating func takeDue(at now: Instant) -> Bool {
        due.takeDue(at: now)
    }

    /// The broker has taken the last of the facts: the next pause is the first one again.
    mutating func succeeded() {
        if due == nil { pauses.reset() }
    }
}
