import Bridge
import JSON
import MQTTTypes

/// The tags and groups of all bridges with the same base topic, as their `info` and `state` topics list them.
struct FleetDirectory: Hashable, Sendable {
    private var infos: [String: JSONValue] = [:]
    private var states: [String: String] = [:]
    private var bridges: [String: String] = [:]

    /// Reads the retained messages among these.
    init(_ messages: [MQTTMessage], _ topics: BridgeTopics) {
        for message in messages where message.isRetained && !message.payload.isEmpty {
            if let instance = topics.instance(ofStateTopic: message.topic) {
                states[instance] = String(decoding: message.payload, as: UTF8.self)
            } else if let instance = topics.instance(ofInfoTopic: message.topic) {
                infos[instance] = JSONValue(payload: message.payload)
            }
        }
        // The last one counts: bridges that are offline, then those online, then those that are connected to the tag.
        for instance in instances.reversed() where !isOnline(instance) { add(tags(of: instance), of: instance) }
        for instance in instances.reversed() where isOnline(instance) { add(tags(of: instance), of: instance) }
        for instance in instances.reversed() where isOnline(instance) {
            add(Self.texts(infos[instance]?["connected"]), of: instance)
        }
    }

    private mutating func add(_ tags: [String], of instance: String) {
        for tag in tags { bridges[tag] = instance }
    }

    /// The bridges, sorted by name.
    var instances: [String] { Set(infos.keys).union(states.keys).sorted() }

    /// The tags of each group. Bridges with the same group add their tags.
    var groups: [String: [String]] {
        infos.sorted { $0.key < $1.key }.reduce(into: [:]) { groups, info in
            for (name, tags) in info.value["groups"]?.members ?? [:] {
                let known = groups[name] ?? []
                groups[name] = known + Self.texts(tags).filter { !known.contains($0) }
            }
        }
    }

    /// The tags of all bridges that are online.
    var tags: [String] { Set(infos.keys.filter(isOnline).flatMap(tags)).sorted() }

    /// The tags of all bridges, including those that are offline.
    var tagsOfAllBridges: [String] { Set(infos.keys.flatMap(tags)).sorted() }

    /// The tags to which bridges that are online are connected.
    var connected: [String] {
        Set(infos.filter { isOnline($0.key) }.flatMap { Self.texts($0.value["connected"]) }).sorted()
    }

    /// Whether a bridge has published its tags, and this user may read them.
    func isReadable(_ instance: String) -> Bool { infos[instance] != nil }

    /// The tags of a bridge.
    func tags(of instance: String) -> [String] { Self.texts(infos[instance]?["tags"]).sorted() }

    /// Whether a bridge is online.
    func isOnline(_ instance: String) -> Bool { states[instance] == "online" }

    /// The bridge that has a tag: one that is connected to it, else one that is online; nil if no bridge lists it.
    func bridge(of tag: String) -> String? { bridges[tag] }

    private static func texts(_ value: JSONValue?) -> [String] { (value?.elements ?? []).compactMap(\.string) }
}
