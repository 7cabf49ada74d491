import Time

/// A command without a final result.
struct PendingCommand: Sendable {
    /// What it is.
    enum Work: Sendable {
        case tag(TagID, any TagRequest)
        case bridge(any BridgeRequest)
    }

    /// By this those who carry it out know it.
    let token: UInt64
    let work: Work
    /// Whether this bridge gives its results. Another bridge that knows the tag too may give them, until this one sends it.
    var isAnswered: Bool
    /// Who waits: the one who asked first, and those who repeated it meanwhile.
    var askers: [CommandAsker]
    /// How long it may wait.
    let timeToLive: Duration
    /// When it stops waiting for its tag, or for Bluetooth.
    let reachableUntil: Instant
    /// When an answer has to be there; nil while the command waits.
    var answeredUntil: Instant?
    /// When it is sent again although nothing has changed: its tag was there, and yet was not.
    var againAt: Instant?

    /// Whether somebody carries it out.
    var isSent: Bool { answeredUntil != nil }

    /// When it has run out of time, whatever it waits for.
    var expiresAt: Instant { answeredUntil ?? reachableUntil }

    /// Whom it is for; nil for the bridge itself.
    var tag: TagID? {
        if case .tag(let tag, _) = work { tag } else { nil }
    }
}
