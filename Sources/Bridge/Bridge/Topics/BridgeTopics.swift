public import JacquardProtocol

/// The topics of one bridge and its tags, as the MQTT contract defines them.
///
/// `HomeAssistant` has the last levels of these topics in its tables of entities; tests compare both.
public struct BridgeTopics: Equatable, Sendable {
    /// The prefix of all topics.
    public let base: String
    /// The bridge's name in topics.
    public let instance: String
    /// The prefix of the bridge's own topics: `<base>/bridge/<instance>`, abbreviated `G` below.
    public let bridge: String

    /// Whether tags have the topic `radios`.
    private let hasRadios: Bool

    /// - Parameters:
    ///   - base: the prefix of all topics.
    ///   - instance: the bridge's name in topics.
    ///   - hasRadios: whether the bridge has several radios.
    public init(base: String, instance: String, hasRadios: Bool = false) {
        self.hasRadios = hasRadios
        self.base = base
        self.instance = instance
        bridge = "\(base)/bridge/\(instance)"
    }

    /// `G/state`, retained: `online` or `offline`.
    public var state: String { topic(BridgeTopic.state) }
    /// `G/info`, retained: version, tags and settings of the bridge.
    public var info: String { topic(BridgeTopic.info) }
    /// `G/health`, retained: measurements and problems.
    public var health: String { topic(BridgeTopic.health) }
    /// `G/adapter`, retained: the Bluetooth adapters.
    public var adapter: String { topic(BridgeTopic.adapter) }
    /// `G/scan`, retained: whether a requested scan is running.
    public var scan: String { topic(BridgeTopic.scan) }
    /// `G/advertisement`: advertisements received during a requested scan.
    public var advertisement: String { topic(BridgeTopic.advertisement) }
    /// `G/event`: pairing stages and other events of the bridge.
    public var event: String { topic(BridgeTopic.event) }
    /// `G/log`: log records while they are requested.
    public var log: String { topic(BridgeTopic.log) }
    /// `G/beat`: published every ten seconds with `fleet.watch`.
    var beat: String { topic(BridgeTopic.beat) }
    /// `G/gatt`: a requested recording of Bluetooth traffic.
    public var gatt: String { topic(BridgeTopic.gatt) }
    /// `G/tags`, retained: the number of tags.
    var tags: String { topic(BridgeTopic.tags) }
    /// `G/pairing`, retained: progress of the latest pairing.
    var pairing: String { topic(BridgeTopic.pairing) }
    /// `G/found`, retained: the tags found by the latest requested scan.
    var found: String { topic(BridgeTopic.found) }

    /// Returns whether a topic is ``info``. Asked for each message: it makes no text.
    func isInfo(_ topic: String) -> Bool { topic.topic(below: bridge).map { $0 == BridgeTopic.info.name } ?? false }

    private func topic(_ row: TopicRow) -> String { "\(bridge)/\(row.name)" }

    /// The retained topics that are published only while Home Assistant discovery is on.
    var ofHomeAssistant: [String] { retained { $0 == .feature } }

    /// The bridge's own retained topics; its state comes last.
    var retained: [String] { retained { _ in true } }

    private func retained(while isUsed: (TopicRow.Use) -> Bool) -> [String] {
        BridgeTopic.table.facts(while: isUsed).map { "\(bridge)/\($0)" }
    }

    /// The topic filters that the bridge subscribes to.
    public var filters: [String] {
        [
            "\(base)/tag/+/+/set", "\(base)/tag/+/+/get", "\(base)/tag/+/+/+/set", "\(base)/tag/+/+/+/get",
            bridge + "/request/+", infoOfEveryBridge, stateOfEveryBridge, infoOfEveryTag,
        ]
    }

    /// The topic filters of commands to groups, which the bridge subscribes to while it has any.
    public var groupFilters: [String] {
        ["+", "+/+"].flatMap { levels in ["set", "get"].map { "\(base)/group/+/\(levels)/\($0)" } }
    }

    /// A filter that matches the `info` topic of every bridge with this base topic.
    public var infoOfEveryBridge: String { "\(base)/bridge/+/info" }

    /// A filter that matches the `info` topic of every tag. Its retained messages are read after each connection.
    var infoOfEveryTag: String { "\(base)/tag/+/info" }

    /// A filter that matches the state topic of every bridge with this base topic.
    public var stateOfEveryBridge: String { "\(base)/bridge/+/state" }

    /// Returns the instance that a state topic belongs to, or nil for another topic.
    public func instance(ofStateTopic topic: String) -> String? { instance(of: topic, "/state") }

    /// Returns the instance that an `info` topic belongs to, or nil for another topic.
    public func instance(ofInfoTopic topic: String) -> String? { instance(of: topic, "/info") }

    private func instance(of topic: String, _ rest: String) -> String? {
        let prefix = "\(base)/bridge/"
        guard topic.hasPrefix(prefix), topic.hasSuffix(rest), topic.utf8.count > prefix.utf8.count + rest.utf8.count
        else { return nil }
        let name = topic.dropFirst(prefix.count).dropLast(rest.count)
        return name.utf8.contains(UInt8(ascii: "/")) ? nil : String(name)
    }

    /// The topic of a request, such as `scan`.
    public func request(_ verb: String) -> String {
        "\(bridge)/request/\(verb)"
    }

    /// The topic of a request's response.
    public func response(_ verb: String) -> String {
        "\(bridge)/response/\(verb)"
    }

    /// Parses a topic; returns nil if it does not concern the bridge.
    func subject(of topic: String) -> TopicSubject? {
        guard topic.utf8.count <= TopicSubject.longestTopic, let levels = TopicLevels(topic, below: base) else {
            return nil
        }
        return switch levels.count {
        case 4...5 where levels.has("tag", at: 0) && levels.isCommand: .command(CommandAddress(ofTag: levels))
        case 4...5 where levels.has("group", at: 0) && levels.isCommand:
            .groupCommand(group: ExactText(levels[1]), name: levels.copy(2..<levels.count))
        case 4 where levels.has("bridge", at: 0) && levels.has("request", at: 2) && topic.isTopic(below: bridge):
            .command(CommandAddress(request: levels[3], resultTopic: response(String(levels[3]))))
        case 3 where levels.has("tag", at: 0) && levels.has("info", at: 2): .tagInfo(levels[1])
        case 3 where levels.has("bridge", at: 0): bridgeFact(levels)
        default: nil
        }
    }

    private func bridgeFact(_ levels: TopicLevels) -> TopicSubject? {
        let instance = String(levels[1])
        if levels.has("info", at: 2) { return .peerInfo(instance: instance) }
        if levels.has("state", at: 2) { return .peerState(instance: instance) }
        return levels.has("beat", at: 2) ? .beat(instance: instance) : nil
    }

    /// Returns the topics of a tag.
    public func tag(_ id: TagID) -> TagTopics {
        TagTopics(prefix: "\(base)/tag/\(id.text)/", hasRadios: hasRadios)
    }
}

/// The meaning of a received topic.
enum TopicSubject: Hashable, Sendable {
    /// Longer topics are ignored. The limit bounds the size of responses.
    static let longestTopic = 1_024

    /// A command to a tag or a request to the bridge.
    case command(CommandAddress)
    /// A command to a group, such as `led/set`.
    case groupCommand(group: ExactText, name: String)
    /// The `info` topic of a tag, of this bridge or another.
    case tagInfo(Substring)
    /// The `info` topic of a bridge with this base topic, possibly this one.
    case peerInfo(instance: String)
    /// The `state` topic of a bridge with this base topic, possibly this one.
    case peerState(instance: String)
    /// The `beat` topic of a bridge with this base topic, possibly this one.
    case beat(instance: String)
}

/// The target and name of a command, and the topic of its result.
struct CommandAddress: Hashable, Sendable {
    /// The tag's topic level; nil for a request to the bridge.
    let tag: String?
    /// `led/set`, `imu/sessions/get`, or the verb of a request.
    let name: String
    /// `T/<command>/result` or `G/response/<verb>`.
    let resultTopic: String

    /// - Parameter levels: `tag`, the tag's id, and those of the command.
    init(ofTag levels: TopicLevels) {
        tag = levels.copy(1..<2)
        name = levels.copy(2..<levels.count)
        resultTopic = levels.topic(through: levels.count - 2, and: "/result")
    }

    init(request: Substring, resultTopic: String) {
        tag = nil
        name = String(request)
        self.resultTopic = resultTopic
    }
}

extension TopicLevels {
    /// Whether the last level is that of a command.
    fileprivate var isCommand: Bool { has("set", at: count - 1) || has("get", at: count - 1) }
}
