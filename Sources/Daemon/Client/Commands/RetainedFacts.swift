import Bridge
import JSON
import MQTT

/// What the broker retains of a bridge and of tags.
struct RetainedFacts: Hashable, Sendable {
    /// The topics of the bridge that is looked at.
    let topics: BridgeTopics
    private var ofBridge: [String: JSONValue] = [:]
    private var ofTags: [String: [String: JSONValue]] = [:]

    /// Nothing yet.
    init(_ topics: BridgeTopics) {
        self.topics = topics
    }

    /// Takes what is retained of these messages.
    mutating func take(_ messages: [MQTTMessage]) {
        for message in messages where message.isRetained { take(message.topic, message.payload) }
    }

    /// Takes a retained message; those of other bridges are left out.
    mutating func take(_ topic: String, _ payload: [UInt8]) {
        guard !payload.isEmpty, let (owner, rest) = topics.split(topic) else { return }
        switch owner {
        case .bridge: ofBridge[rest] = JSONValue(payload: payload)
        case .tag(let id): ofTags[id, default: [:]][rest] = JSONValue(payload: payload)
        }
    }

    /// A fact of the bridge itself, such as `health`.
    func bridge(_ name: String) -> JSONValue? { ofBridge[name] }

    /// A fact of a tag, such as `battery`.
    func tag(_ id: String, _ name: String) -> JSONValue? { ofTags[id]?[name] }

    /// The ids of the bridge's tags, in order: those it lists, and those that say they are its own.
    var tags: [String] {
        let listed = ofBridge["info"]?["tags"]?.elements?.compactMap(\.string) ?? []
        let own = ofTags.filter { $0.value["info"]?["bridge"]?.string == topics.instance }.map(\.key)
        return Set(listed + own).sorted()
    }
}
