/// An action at the broker that a role may or may not do. Its topic belongs to no tag, bridge or client.
public struct AccessTrial: Hashable, Sendable {
    /// An action that is tried.
    public enum Action: String, Sendable {
        case publish
        case read
    }

    /// The action that is tried.
    public let action: Action
    /// The topic.
    public let topic: String
    /// Whether the role may do it.
    public let isAllowed: Bool
}

extension AccessTable {
    /// Returns an action for each right of any role, and some that no role has.
    ///
    /// - Parameters:
    ///   - role: the role that tries them.
    ///   - name: a topic level that no tag, bridge, client and device has as its name.
    /// - Returns: the actions, in the order of the topics.
    public func trials(of role: AccessRole, name: String) -> [AccessTrial] {
        let topics =
            Self.topics(name, base, discoveryPrefix)
            + ["gesture", "battery/level"].map { "\(replayBase)/tag/\(name)/\($0)" }
        return topics.map { AccessTrial(action: .publish, topic: $0, isAllowed: mayPublish(role, to: $0)) }
            + (topics + ["$SYS/broker/version"]).map {
                AccessTrial(action: .read, topic: $0, isAllowed: mayRead(role, from: $0))
            }
    }

    private static func topics(_ name: String, _ base: String, _ prefix: String) -> [String] {
        let (tag, bridge) = ("\(base)/tag/\(name)", "\(base)/bridge/\(name)")
        return ["stats", "battery/level", "led/result"].map { "\(tag)/\($0)" }
            + TagRequestTable.rows.map { "\(tag)/\($0.name)" }
            + TagRequestTable.rows.map { "\(base)/group/\(name)/\($0.name)" }
            + ["state", "info", "health", "event", "beat", "response/scan"].map { "\(bridge)/\($0)" }
            + BridgeRequestTable.rows.map { "\(bridge)/request/\($0.name)" }
            + [
                "\(base)/client/\(name)/response", "\(prefix)/device/\(name)/config", "\(name)/device/\(name)/config",
                name,
            ]
    }
}
