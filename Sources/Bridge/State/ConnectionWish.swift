import Time

/// Whether a tag is to be connected: what the configuration, the user and the commands together want.
struct ConnectionWish: Hashable, Sendable {
    /// How long a tag that is connected on demand stays so after its last command.
    static let idle = Duration.seconds(30)

    /// What the configuration wants.
    var policy: TagEntry.ConnectPolicy {
        didSet { if policy != .onDemand { neededUntil = nil } }
    }
    /// Whether the user has disconnected it.
    private(set) var isHeld: Bool
    /// On demand: until when the last command keeps the tag connected.
    private(set) var neededUntil: Instant?
    /// Whether the driver was last told to connect it.
    private var isAskedFor = false

    init(_ policy: TagEntry.ConnectPolicy, isHeld: Bool) {
        self.policy = policy
        self.isHeld = isHeld
    }

    /// Whether the tag is to be connected now.
    var isWanted: Bool {
        switch policy {
        case .always: !isHeld
        case .onDemand: !isHeld && neededUntil != nil
        case .never: false
        }
    }

    /// The user disconnects the tag, until ``release()``.
    mutating func hold() {
        isHeld = true
        neededUntil = nil
    }

    /// The user wants it connected.
    mutating func release() {
        isHeld = false
    }

    /// A command needs the tag, or has just ended.
    mutating func need(at now: Instant) {
        guard policy == .onDemand, !isHeld else { return }
        neededUntil = now + Self.idle
    }

    /// Time has passed; pending commands go on needing the tag.
    mutating func deadlineReached(at now: Instant, isBusy: Bool) {
        guard let until = neededUntil, until <= now else { return }
        neededUntil = isBusy ? now + Self.idle : nil
    }

    /// Whatever was asked for came to nothing: it is to be asked for again.
    mutating func askAgain() {
        isAskedFor = false
    }

    /// What to tell the driver: true to connect, false to disconnect, nil when it knows already.
    mutating func change() -> Bool? {
        guard isWanted != isAskedFor else { return nil }
        isAskedFor = isWanted
        return isWanted
    }
}
