public import Bridge
public import Configuration
import JacquardProtocol
public import MQTTTypes

/// Topics and filters of a client.
extension BridgeTopics {
    /// Creates the topics of the configured bridge.
    public init(_ configuration: Settings) {
        self.init(base: configuration.mqtt.baseTopic, instance: configuration.instance)
    }

    /// A topic of a tag, such as `gesture` or `led/set`.
    public func tag(_ id: String, _ rest: String) -> String { "\(base)/tag/\(id)/\(rest)" }

    /// The topics with retained messages of the bridge itself.
    public var factsOfBridge: [String] { BridgeTopic.table.filter(\.isFact).map { "\(bridge)/\($0.name)" } }

    /// The topics with retained messages of a tag, with those of features that may be off.
    public func facts(of tag: String) -> [String] {
        TagID(tag).map { id in TagTopicTable.rows.filter(\.isFact).map { self.tag(id.text, $0.name) } } ?? []
    }

    /// Filters for the retained messages of all bridges themselves.
    public var factsOfEveryBridge: [String] {
        [stateOfEveryBridge, infoOfEveryBridge] + ["health", "adapter"].map { "\(base)/bridge/+/\($0)" }
    }

    /// A filter for all topics of the bridge itself.
    public var everythingOfBridge: String { "\(bridge)/#" }
    /// A filter for all topics of a tag; nil: of all tags of all bridges.
    public func everything(of tag: String?) -> String { "\(base)/tag/\(tag ?? "+")/#" }

    /// A filter for the results of one command of all tags of all bridges, such as `led`.
    public func results(of command: String) -> String { "\(base)/tag/+/\(command)/result" }

    /// The response topic of one client (MQTT 5).
    public func answers(to client: String) -> String { "\(clients)/\(client)/response" }
    /// A filter for the response topics of all clients.
    public var everythingOfClients: String { "\(clients)/#" }

    private var clients: String { "\(base)/client" }
}

extension BridgeTopics {
    /// Returns the bridges whose state is among the messages, each with its state: `attic (online)`.
    public func bridges(in messages: [MQTTMessage]) -> [String] {
        let states = messages.compactMap { message in
            instance(ofStateTopic: message.topic).map { ($0, String(decoding: message.payload, as: UTF8.self)) }
        }
        let known = Dictionary(states) { $1 }.filter { !$0.value.isEmpty }
        return known.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }
    }
}

extension AccessTable {
    /// The rights to the topics of a bridge.
    public init(_ topics: BridgeTopics) {
        self.init(base: topics.base)
    }
}

/// The bridge or tag to which a topic belongs.
public enum TopicOwner: Hashable, Sendable {
    /// The bridge itself.
    case bridge
    /// A tag, by its ID.
    case tag(String)
}

extension BridgeTopics {
    /// Splits a topic into its owner and the rest; returns nil for a topic of another bridge or program.
    public func split(_ topic: String) -> (owner: TopicOwner, rest: String)? {
        let tags = "\(base)/tag/"
        if topic.hasPrefix(bridge + "/") { return (.bridge, String(topic.dropFirst(bridge.count + 1))) }
        guard topic.hasPrefix(tags) else { return nil }
        let parts = topic.dropFirst(tags.count).split(separator: "/", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        return (.tag(String(parts[0])), String(parts[1]))
    }
}
