import JacquardProtocol
import Time

/// The state of a connection, which ends with it.
struct FirmwareLink: Sendable {
    /// The longest fragment, in bytes.
    let fragmentLength: Int
    var subscriptions: Set<TagCharacteristic> = []
    var reassembler = Reassembler()
    var rawReassembler = Reassembler()
    /// Whether the client has configured the tag. The tag reports battery and gear then, and every later change.
    var isConfigured = false
    /// Whether the tag sleeps once the link has gone.
    var sleepsAfterwards = false
    var lastActivity: Instant
    private var agenda: [(at: Instant, actions: [FirmwareAction])] = []

    /// A tag drops a link on which nothing happens for so long.
    ///
    /// Source: Jacquard SDK guides, "Tags".
    static let idleLimit = Duration.seconds(600)

    init(mtu: Int, at now: Instant) {
        fragmentLength = Fragment.length(mtu: mtu)
        lastActivity = now
    }

    /// When something becomes due.
    var deadline: Instant? {
        let idle = lastActivity + Self.idleLimit
        return agenda.map(\.at).min().map { min($0, idle) } ?? idle
    }

    /// Puts actions off.
    mutating func plan(_ actions: [FirmwareAction], at instant: Instant) {
        agenda.append((instant, actions))
    }

    /// Takes what is due, in the order of its time.
    mutating func takeDue(at now: Instant) -> [FirmwareAction] {
        let due = agenda.filter { $0.at <= now }.sorted { $0.at < $1.at }
        agenda.removeAll { $0.at <= now }
        let actions = due.flatMap(\.actions)
        return now < lastActivity + Self.idleLimit ? actions : actions + [.dropLink]
    }
}
