import Bridge
import JSON
import MQTT

/// What the broker retains of a bridge and of tags.
struct RetainedFacts: Hashable, Sendable {
    /// The topics of the bridge that is looked at.
    let topics: BridgeTopics
    private var ofBridge: [String: JSONValue] = [:]
    private var ofTags: [String: [String: JSONValue]] = [:]
    private var ofOthers: [String: String] = [:]

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
        if let instance = topics.instance(ofStateTopic: topic), instance != topics.instance, !payload.isEmpty {
            ofOthers[instance] = String(decoding: payload, as: UTF8.self)
        }
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

    /// The other bridges of the base topic, each with its state: `cellar (online)`.
    var otherBridges: [String] { ofOthers.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" } }

    /// Every topic on which something of the bridge or of its tags is retained.
    var retainedTopics: [String] {
        let own = tags.filter { tag($0, "info").map { $0["bridge"]?.string == topics.instance } ?? true }
        return own.flatMap { id in (ofTags[id] ?? [:]).keys.sorted().map { topics.tag(id, $0) } }
            + ofBridge.keys.sorted().map { "\(topics.bridge)/\($0)" }
    }

    /// The ids of the bridge's tags, in order: those it lists, and those that say they are its own.
    var tags: [String] {
        let listed = ofBridge["info"]?["tags"]?.elements?.compactMap(\.string) ?? []
        let own = ofTags.filter { $0.value["info"]?["bridge"]?.string == topics.instance }.map(\.key)
        return Set(listed + own).sorted()
    }
}
