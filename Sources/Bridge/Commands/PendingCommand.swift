/// A command without a final result.
struct PendingCommand: Sendable {
    /// By this the tag's session knows it.
    let token: UInt64
    let tag: TagID
    let request: any TagRequest
    /// Who waits: the one who asked first, and those who repeated it meanwhile.
    var askers: [CommandAsker]
    /// When it stops waiting for its tag.
    let reachableUntil: ContinuousClock.Instant
    /// When an answer has to be there; nil while the command waits for its tag.
    var answeredUntil: ContinuousClock.Instant?

    /// Whether the tag's session has it.
    var isSent: Bool { answeredUntil != nil }

    /// When it has run out of time, whatever it waits for.
    var expiresAt: ContinuousClock.Instant { answeredUntil ?? reachableUntil }
}
