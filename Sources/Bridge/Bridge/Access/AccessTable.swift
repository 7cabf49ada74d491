/// The rights of each role at the broker. Topics that are not listed are denied.
///
/// The source of access lists for brokers, such as ``MosquittoAccessList``.
public struct AccessTable: Hashable, Sendable {
    /// The first level, or levels, of all topics of the bridge.
    public let base: String
    /// Home Assistant's discovery prefix.
    public let discoveryPrefix: String
    /// The base topic of replays.
    public let replayBase: String

    /// The base topic of replays in examples.
    public static let usualReplayBase = "shadow"

    /// The commands that automations may send. They cannot pair, forget, connect or disconnect tags, write to their store,
    /// or send requests to a bridge.
    static let automationCommands = TagRequestTable.rows.filter { $0.access == .automation }.map { $0.name }

    /// The commands of Home Assistant's entities, and those for automations in Home Assistant.
    static let homeAssistantCommands = TagRequestTable.rows.filter { $0.access != .admin }.map { $0.name }

    /// The requests of Home Assistant's entities.
    static let homeAssistantRequests = [
        ScanRequest.name, PairRequest.name, PairSerialRequest.name, ForgetRequest.name,
    ]

    /// - Parameters:
    ///   - base: the first level, or levels, of all topics of the bridge.
    ///   - discoveryPrefix: Home Assistant's discovery prefix.
    ///   - replayBase: the base topic of replays.
    public init(
        base: String = "jacquard", discoveryPrefix: String = "homeassistant", replayBase: String = usualReplayBase
    ) {
        self.base = base
        self.discoveryPrefix = discoveryPrefix
        self.replayBase = replayBase
    }

    /// Returns the rules of a role.
    public func rules(of role: AccessRole) -> [AccessRule] {
        let discovery = AccessRule(.readWrite, discoveryPrefix + "/#")
        let everything = AccessRule(.read, base + "/#")
        let replayed = replayBase + "/tag/#"
        return switch role {
        case .bridge:
            ["tag", "bridge", "client"].map { AccessRule(.readWrite, "\(base)/\($0)/#") }
                + [AccessRule(.read, base + "/group/#"), discovery] + formerDiscovery
        case .dashboard:
            [everything]
        case .automation:
            ["tag/#", "bridge/+/state", "bridge/+/info", "client/#"].map { AccessRule(.read, "\(base)/\($0)") }
                + ["tag", "group"].flatMap { kind in
                    Self.automationCommands.map { AccessRule(.write, "\(base)/\(kind)/+/\($0)") }
                }
                + [AccessRule(.read, replayed)]
        case .admin:
            [
                AccessRule(.readWrite, base + "/#"), discovery, AccessRule(.readWrite, replayed),
                AccessRule(.read, "$SYS/#"),
            ]
        case .homeAssistant:
            [everything]
                + ["tag", "group"].flatMap { kind in
                    Self.homeAssistantCommands.map { AccessRule(.write, "\(base)/\(kind)/+/\($0)") }
                }
                + Self.homeAssistantRequests.map { AccessRule(.write, "\(base)/bridge/+/request/\($0)") }
                + [discovery, AccessRule(.read, replayed)]
        case .replay:
            [AccessRule(.write, replayed)]
        }
    }

    /// At each start the bridge looks for announcements of earlier runs under another prefix of one level.
    var formerDiscovery: [AccessRule] {
        ["+/device/+/config", "+/+/+/+/config"].map { AccessRule(.read, $0) }
    }

    /// Returns whether a role may publish to a topic.
    public func mayPublish(_ role: AccessRole, to topic: String) -> Bool {
        rules(of: role).contains { $0.right.writes && $0.matches(topic) }
    }

    /// The roles that may publish to a topic, except that of a bridge.
    public func roles(publishingTo topic: String) -> [AccessRole] {
        AccessRole.allCases.filter { $0 != .bridge && mayPublish($0, to: topic) }
    }

    /// Returns whether a role receives messages of a topic.
    public func mayRead(_ role: AccessRole, from topic: String) -> Bool {
        rules(of: role).contains { $0.right.reads && $0.matches(topic) }
    }
}
