import Bridge
import Text

/// The rights of a user of the page: those of a role at the broker, as far as they are commands.
enum Role: String, CaseIterable, Hashable, Sendable {
    /// Reads everything, sends nothing.
    case viewer
    /// Reads everything of tags and sends them commands, except setup.
    case automation
    /// Reads everything and sends all commands and requests.
    case admin

    /// The topics that bridges subscribe to. The page never publishes anything else, whatever the role may do at the broker.
    private static let commands = [
        "tag/+/+/set", "tag/+/+/get", "tag/+/imu/sessions/get", "group/+/+/set", "group/+/+/get",
        "group/+/imu/sessions/get", "bridge/+/request/+",
    ]

    /// The role with these rights at the broker.
    var access: AccessRole {
        switch self {
        case .viewer: .dashboard
        case .automation: .automation
        case .admin: .admin
        }
    }

    /// The topic filters below the base topic that the role may read.
    var readable: [String] { Self.rights[self]?.readable ?? [] }

    /// The topic filters below the base topic that the role may publish to.
    var writable: [String] { Self.rights[self]?.writable ?? [] }

    private static let rights: [Role: (readable: [String], writable: [String])] = {
        let base = "base"
        let table = AccessTable(base: base)
        var rights: [Role: (readable: [String], writable: [String])] = [:]
        for role in allCases {
            let rules = table.rules(of: role.access)
            let readable = rules.filter(\.right.reads).compactMap { TopicPattern.rest(of: $0.filter, below: base) }
            let writable = rules.filter(\.right.writes).compactMap { TopicPattern.rest(of: $0.filter, below: base) }
            rights[role] = (readable.map(String.init), writable.contains("#") ? commands : writable.map(String.init))
        }
        return rights
    }()

    /// Whether the role may read a topic, without the base topic.
    func mayRead(_ topic: Substring) -> Bool {
        // The administrator and the viewer, without taking the topic apart.
        if readable.first == "#" { return true }
        return readable.contains { TopicPattern.matches($0, topic) }
    }

    /// Whether the role may publish to a topic, without the base topic.
    func mayWrite(_ topic: Substring) -> Bool {
        guard !topic.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }) else { return false }
        return writable.contains { TopicPattern.matches($0, topic) }
    }
}

/// Topic filters of MQTT. Source: MQTT 5.0, section 4.7.
enum TopicPattern {
    /// Whether a filter matches a topic. Compared as bytes.
    static func matches(_ filter: String, _ topic: Substring) -> Bool {
        var levels = topic.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)[...]
        for part in filter.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            if part.elementsEqual("#".utf8) { return true }
            guard let level = levels.popFirst() else { return false }
            // An empty level is no tag's id and no command.
            if part.elementsEqual("+".utf8), !level.isEmpty { continue }
            guard part.elementsEqual(level) else { return false }
        }
        return levels.isEmpty
    }

    /// The rest of a topic below a base topic; nil if it is not below it.
    static func rest(of topic: String, below base: String) -> Substring? {
        guard topic.utf8.starts(with: base.utf8) else { return nil }
        let rest = topic.utf8.dropFirst(base.utf8.count)
        guard rest.first == UInt8(ascii: "/") else { return nil }
        return Substring(rest.dropFirst())
    }

    /// Whether a text can be a tag's id or a bridge's name.
    static func isID(_ text: some StringProtocol) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(ASCII.isOfWord)
    }

    /// Whether a topic below the base topic is one of a tag or a bridge with a valid id, and no longer than the topic of a command.
    static func isOfTagOrBridge(_ rest: Substring) -> Bool {
        guard rest.utf8.count <= PublishRequest.topicLimit else { return false }
        let levels = rest.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        return levels.count == 3 && ["tag", "bridge"].contains(levels[0]) && isID(levels[1])
    }
}
