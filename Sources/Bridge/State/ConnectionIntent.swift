import Time

/// Whether a tag should be connected, from the configuration, the user and the pending commands.
struct ConnectionIntent: Hashable, Sendable {
    /// How long an on-demand tag stays connected after its last command.
    static let idle = Duration.seconds(30)

    /// The connection policy of the configuration.
    var policy: TagEntry.ConnectPolicy {
        didSet { if policy != .onDemand { neededUntil = nil } }
    }
    /// Whether the user has disconnected the tag.
    private(set) var isHeld: Bool
    /// On demand: how long the last command keeps the tag connected.
    private(set) var neededUntil: Instant?
    /// Whether the driver was last instructed to connect the tag.
    private var isAskedFor = false

    init(_ policy: TagEntry.ConnectPolicy, isHeld: Bool) {
        self.policy = policy
        self.isHeld = isHeld
    }

    /// Whether the tag should be connected now.
    var isWanted: Bool {
        switch policy {
        case .always: !isHeld
        case .onDemand: !isHeld && neededUntil != nil
        case .never: false
        }
    }

    /// Handles a disconnect by the user, which lasts until ``release()``.
    mutating func hold() {
        isHeld = true
        neededUntil = nil
    }

    /// Handles a connect by the user.
    mutating func release() {
        isHeld = false
    }

    /// Keeps the tag connected for a command that is pending or has just ended.
    mutating func need(at now: Instant) {
        guard policy == .onDemand, !isHeld else { return }
        neededUntil = now + Self.idle
    }

    /// Handles elapsed time. Pending commands keep the tag connected.
    mutating func deadlineReached(at now: Instant, isBusy: Bool) {
        guard let until = neededUntil, until <= now else { return }
        neededUntil = isBusy ? now + Self.idle : nil
    }

    /// Repeats the instruction to connect, because the last one had no effect.
    mutating func askAgain() {
        isAskedFor = false
    }

    /// Returns the instruction for the driver: true to connect, false to disconnect, nil if it is unchanged.
    mutating func change() -> Bool? {
        guard isWanted != isAskedFor else { return nil }
        isAskedFor = isWanted
        return isWanted
    }
}
