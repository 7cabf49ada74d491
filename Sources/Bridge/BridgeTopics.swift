/// The topics of one bridge and of its tags, as the MQTT contract has them: the one place where a topic is spelled.
public struct BridgeTopics: Hashable, Sendable {
    /// What every topic begins with.
    public let base: String
    /// The bridge's name in topics.
    public let instance: String
    /// What the topics of the bridge itself begin with: `<base>/bridge/<instance>`, `G` below.
    public let bridge: String

    /// `G/state`, retained: `online` or `offline`.
    public let state: String
    /// `G/info`, retained: what the bridge says about itself.
    public let info: String
    /// `G/health`, retained: how it is.
    public let health: String
    /// `G/adapter`, retained: its Bluetooth adapters.
    public let adapter: String
    /// `G/scan`, retained: whether it scans.
    public let scan: String
    /// `G/advertisement`: each signal of a tag during a scan.
    public let advertisement: String
    /// `G/event`: stages of pairing, and other events of the bridge.
    public let event: String
    /// `G/tags`, retained: how many tags there are.
    let tags: String
    /// `G/pairing`, retained: how far the latest pairing is.
    let pairing: String
    /// `G/found`, retained: the tags that the latest requested scan found.
    let found: String

    /// - Parameters:
    ///   - base: what every topic begins with.
    ///   - instance: the bridge's name in topics.
    public init(base: String, instance: String) {
        self.base = base
        self.instance = instance
        bridge = "\(base)/bridge/\(instance)"
        state = bridge + "/state"
        info = bridge + "/info"
        health = bridge + "/health"
        adapter = bridge + "/adapter"
        scan = bridge + "/scan"
        advertisement = bridge + "/advertisement"
        event = bridge + "/event"
        tags = bridge + "/tags"
        pairing = bridge + "/pairing"
        found = bridge + "/found"
    }

    /// The retained topics that are published while discovery is on.
    var ofHomeAssistant: [String] { [tags, pairing, found] }

    /// Those of the bridge itself that the broker retains; its state comes last.
    var retained: [String] { [info, health, adapter, scan] + ofHomeAssistant + [state] }

    /// What the bridge listens to.
    var filters: [String] {
        ["\(base)/tag/+/+/set", "\(base)/tag/+/+/get", bridge + "/request/+"]
            + ["\(base)/bridge/+/info", stateOfEveryBridge, "\(base)/tag/+/info"]
    }

    /// A filter for the state of every bridge of this base topic.
    public var stateOfEveryBridge: String { "\(base)/bridge/+/state" }

    /// The instance whose state a topic tells; nil for another topic.
    public func instance(ofStateTopic topic: String) -> String? {
        let prefix = "\(base)/bridge/"
        guard topic.hasPrefix(prefix), topic.hasSuffix("/state") else { return nil }
        let name = topic.dropFirst(prefix.count).dropLast("/state".count)
        return name.isEmpty || name.utf8.contains(UInt8(ascii: "/")) ? nil : String(name)
    }

    /// Where the bridge takes a request, such as `scan`.
    public func request(_ verb: String) -> String {
        "\(bridge)/request/\(verb)"
    }

    /// Where the bridge answers a request.
    public func response(_ verb: String) -> String {
        "\(bridge)/response/\(verb)"
    }

    /// What a message on a topic is about, or nil when it does not concern the bridge.
    func subject(of topic: String) -> TopicSubject? {
        guard topic.utf8.count <= TopicSubject.longestTopic, let rest = topic.topic(below: base) else { return nil }
        let levels = String(rest).topicLevels
        switch levels.first {
        case "tag" where levels.count == 4:
            return tagSubject(tag: levels[1], command: levels[2], verb: levels[3])
        case "tag" where levels.count == 3 && levels[2] == "info":
            return .tagInfo(levels[1])
        case "bridge" where levels.count == 4 && levels[2] == "request" && topic.topic(below: bridge) != nil:
            return .command(CommandAddress(request: levels[3], resultTopic: response(String(levels[3]))))
        case "bridge" where levels.count == 3 && levels[2] == "info":
            return .neighbourInfo(instance: String(levels[1]))
        case "bridge" where levels.count == 3 && levels[2] == "state":
            return .neighbourState(instance: String(levels[1]))
        default:
            return nil
        }
    }

    private func tagSubject(tag: Substring, command: Substring, verb: Substring) -> TopicSubject? {
        guard verb == "set" || verb == "get" else { return nil }
        return .command(
            CommandAddress(
                tag: tag, name: "\(command)/\(verb)", resultTopic: "\(base)/tag/\(tag)/\(command)/result"))
    }

    /// The topics of a tag.
    public func tag(_ id: TagID) -> TagTopics {
        TagTopics(prefix: "\(base)/tag/\(id.text)/")
    }
}

/// What a message from the broker is about.
enum TopicSubject: Hashable, Sendable {
    /// Longer topics are none of ours; it bounds what a caller can make us answer.
    static let longestTopic = 1_024

    /// Somebody wants something.
    case command(CommandAddress)
    /// The description of a tag, of this bridge or another.
    case tagInfo(Substring)
    /// A bridge of this base topic, perhaps this one, tells its tags.
    case neighbourInfo(instance: String)
    /// A bridge of this base topic, perhaps this one, comes or goes.
    case neighbourState(instance: String)
}

/// Whom a command is for, what it is called, and where its result goes.
struct CommandAddress: Hashable, Sendable {
    /// The tag's topic level; nil for a request to the bridge itself.
    let tag: String?
    /// `led/set`, or the verb of a request.
    let name: String
    /// `T/<command>/result` or `G/response/<verb>`.
    let resultTopic: String

    init(tag: Substring, name: String, resultTopic: String) {
        self.tag = String(tag)
        self.name = name
        self.resultTopic = resultTopic
    }

    init(request: Substring, resultTopic: String) {
        tag = nil
        name = String(request)
        self.resultTopic = resultTopic
    }
}

/// The topics of one tag, spelled once so that an event costs no string.
public struct TagTopics: Hashable, Sendable {
    private let prefix: String
    let availability: String
    let connection: String
    let battery: String
    let batteryLevel: String
    let gear: String
    let info: String
    let touchMode: String
    let led: String
    let rssi: String
    let gesture: String
    let stats: String
    let touch: String

    /// Those that the broker retains.
    public var retained: [String] {
        [availability, connection, battery, batteryLevel, gear, info, touchMode, led, rssi, stats]
    }

    fileprivate init(prefix: String) {
        self.prefix = prefix
        availability = prefix + "availability"
        connection = prefix + "connection"
        battery = prefix + "battery"
        batteryLevel = prefix + "battery/level"
        gear = prefix + "gear"
        info = prefix + "info"
        touchMode = prefix + "touch_mode"
        led = prefix + "led"
        rssi = prefix + "rssi"
        gesture = prefix + "gesture"
        stats = prefix + "stats"
        touch = prefix + "touch"
    }

    /// Where the tag takes a command, such as `led/set`.
    func command(_ name: String) -> String {
        prefix + name
    }
}
