import Time

/// A command without a final result.
struct PendingCommand: Sendable {
    /// The command itself.
    enum Work: Sendable {
        case tag(TagID, any TagRequest)
        case bridge(any BridgeRequest)
    }

    /// Identifies the command to the driver.
    let token: UInt64
    let work: Work
    /// Whether this bridge publishes the results. Another bridge that knows the tag publishes them until this bridge
    /// sends the command.
    var isAnswered: Bool
    /// The senders: the first one, and those that repeated the command while it was pending.
    var requesters: [Requester]
    /// How long the command may be queued.
    let timeToLive: Duration
    /// When the command expires while it waits for its tag or for Bluetooth.
    let reachableUntil: Instant
    /// When the response times out; nil while the command is queued.
    var answeredUntil: Instant?
    /// When the command is retried, after a connected tag did not accept it.
    var againAt: Instant?

    /// Whether the command was sent.
    var isSent: Bool { answeredUntil != nil }

    /// When the command expires, queued or sent.
    var expiresAt: Instant { answeredUntil ?? reachableUntil }

    /// The target tag; nil for a request to the bridge.
    var tag: TagID? {
        if case .tag(let tag, _) = work { tag } else { nil }
    }
}
