public import Bridge
public import Configuration
import JacquardProtocol
public import MQTT

/// What a client of the bridge needs beside the topics themselves.
extension BridgeTopics {
    /// The topics that a configuration leads to.
    public init(_ configuration: Settings) {
        self.init(base: configuration.mqtt.baseTopic, instance: configuration.instance)
    }

    /// One fact, event or command of a tag, such as `gesture` or `led/set`.
    public func tag(_ id: String, _ rest: String) -> String { "\(base)/tag/\(id)/\(rest)" }

    /// All that is retained of the bridge itself.
    public var factsOfBridge: [String] { [state, info, health, adapter, scan] }

    /// All that is retained of a tag.
    public func facts(of tag: String) -> [String] { TagID(tag).map { self.tag($0).retained } ?? [] }

    /// A filter for everything of the bridge itself.
    public var everythingOfBridge: String { "\(bridge)/#" }
    /// A filter for everything of a tag; nil: of all tags, whichever bridge has them.
    public func everything(of tag: String?) -> String { "\(base)/tag/\(tag ?? "+")/#" }

    /// The response topic of one client (MQTT 5).
    public func answers(to client: String) -> String { "\(clients)/\(client)/response" }
    /// A filter for the answers to all clients.
    public var everythingOfClients: String { "\(clients)/#" }

    private var clients: String { "\(base)/client" }
}

extension BridgeTopics {
    /// The bridges whose state is among the messages, each with that state: `attic (online)`.
    public func bridges(in messages: [MQTTMessage]) -> [String] {
        let states = messages.compactMap { message in
            instance(ofStateTopic: message.topic).map { ($0, String(decoding: message.payload, as: UTF8.self)) }
        }
        let known = Dictionary(states) { $1 }.filter { !$0.value.isEmpty }
        return known.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }
    }
}

/// What a topic of the bridge is about.
public enum TopicOwner: Hashable, Sendable {
    /// The bridge itself.
    case bridge
    /// A tag, by its id.
    case tag(String)
}

extension BridgeTopics {
    /// The owner of a topic, and the part behind it; nil for a topic of another program.
    public func split(_ topic: String) -> (owner: TopicOwner, rest: String)? {
        let tags = "\(base)/tag/"
        if topic.hasPrefix(bridge + "/") { return (.bridge, String(topic.dropFirst(bridge.count + 1))) }
        guard topic.hasPrefix(tags) else { return nil }
        let parts = topic.dropFirst(tags.count).split(separator: "/", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        return (.tag(String(parts[0])), String(parts[1]))
    }
}
