import JSON
import Time

/// A name under which this bridge has run before, with the starts under it.
public struct FormerInstance: Hashable, Sendable {
    /// The name in topics.
    public var name: String
    /// The `boot` of the latest starts under this name; `G/info` names one of them if it is this bridge's.
    public var boots: [String]

    /// Describes a former name.
    public init(name: String, boots: [String]) {
        self.name = name
        self.boots = boots
    }
}

/// What is known of this bridge's earlier runs.
public struct EarlierRuns: Hashable, Sendable {
    /// Former names whose topics may still be at the broker.
    public var instances: [FormerInstance]
    /// Whether the tags that were paired by command are known. If not, no tag counts as unknown.
    public var areTagsKnown: Bool

    /// Describes earlier runs; by default there were none.
    public init(instances: [FormerInstance] = [], areTagsKnown: Bool = true) {
        self.instances = instances
        self.areTagsKnown = areTagsKnown
    }
}

/// Finds what earlier runs of this bridge left at the broker: topics of tags that it no longer knows, and of its former names.
///
/// After each connection to the broker it listens for a second to what is retained. A tag is this bridge's if its `T/info` names
/// this bridge or a former name of it. A former name is this bridge's if its `G/info` has the `boot` of one of its own starts:
/// another bridge may have taken the name.
struct FormerTopics: Sendable {
    /// What is to be cleared.
    struct Findings: Hashable, Sendable {
        var tags: [TagEntry] = []
        var instances: [String] = []
    }

    /// How long to listen.
    static let pause = Duration.seconds(1)
    /// More tags than this are left for the next connection.
    static let most = 256
    /// More bytes than this are not read on one connection.
    static let mostBytesRead = 1 << 20

    private let instance: ExactText
    private var former: [ExactText: [String]]
    private let areTagsKnown: Bool
    private var listensUntil: Instant?
    private var bytesRead = 0
    /// The serial of each tag, and the bridge of its `T/info`.
    private var tags: [TagID: (serial: String, bridge: ExactText)] = [:]
    private var found: Set<ExactText> = []

    init(instance: String, _ runs: EarlierRuns) {
        self.instance = ExactText(instance)
        areTagsKnown = runs.areTagsKnown
        former = Dictionary(runs.instances.map { (ExactText($0.name), $0.boots) }) { first, _ in first }
        former[self.instance] = nil
    }

    /// When something is due.
    var deadline: Instant? { listensUntil }

    /// There is a connection to the broker, and the subscriptions are made.
    mutating func brokerConnected(at now: Instant) {
        listensUntil = now + Self.pause
        (bytesRead, tags, found) = (0, [:], [])
    }

    /// Takes what is retained of a tag that the bridge does not know.
    mutating func received(info: [UInt8], of tag: TagID) {
        guard areTagsKnown, tags.count < Self.most, mayRead(info), let document = JSONValue(parsing: info),
            let bridge = document["bridge"]?.string.map({ ExactText($0) }), bridge == instance || former[bridge] != nil
        else { return }
        tags[tag] = (document["serial"]?.string ?? tag.text, bridge)
    }

    /// Takes what is retained of a bridge.
    mutating func received(info: [UInt8], ofBridge name: String) {
        let name = ExactText(name)
        guard let boots = former[name], mayRead(info), let boot = JSONValue(parsing: info)?["boot"]?.string else {
            return
        }
        if boots.contains(boot) { found.insert(name) }
    }

    /// What was found, once the time to listen is over.
    mutating func takeDue(at now: Instant) -> Findings? {
        guard let until = listensUntil, until <= now else { return nil }
        listensUntil = nil
        defer { (tags, found) = ([:], []) }
        let tags = tags.filter { $0.value.bridge == instance || found.contains($0.value.bridge) }
            .map { TagEntry(id: $0.key, serial: $0.value.serial) }
        return Findings(tags: tags.sorted { $0.id.text < $1.id.text }, instances: found.sorted().map(\.text))
    }

    /// The topics of a former name are cleared.
    mutating func cleared(_ name: String) {
        former[ExactText(name)] = nil
    }

    private mutating func mayRead(_ bytes: [UInt8]) -> Bool {
        guard listensUntil != nil, bytesRead + bytes.count <= Self.mostBytesRead else { return false }
        bytesRead += bytes.count
        return true
    }
}

// MARK: Clearing

extension BridgeState {
    /// Takes what is retained of a tag, if the bridge does not know it.
    mutating func received(tagInfo message: IncomingMessage, of tag: Substring) {
        guard message.isRetained, let id = TagID(String(tag)), position(of: id) == nil else { return }
        former.received(info: message.payload, of: id)
    }

    /// Takes away what earlier runs have left: discovery at once, everything else a second later.
    mutating func clearFormerTopics(at now: Moment) -> [BridgeAction] {
        guard let findings = former.takeDue(at: now.instant) else { return [] }
        let unknown = findings.tags.filter { position(of: $0.id) == nil && !neighbours.isKnown($0.id) }
        let due = now.instant + Departure.delay
        departures += unknown.map {
            Departure(entry: $0, request: nil, retainedTopics: topics.tag($0.id).retained, due: due)
        }
        departures += findings.instances.map { name in
            let topics = BridgeTopics(base: topics.base, instance: name)
            return Departure(formerInstance: name, retainedTopics: topics.retained, due: due)
        }
        let discovery = HomeAssistantDiscovery(withdrawing: configuration, topics: topics)
        return publish(
            unknown.flatMap { discovery.withdrawalInEveryForm(ofTag: $0) }
                + findings.instances.flatMap { discovery.withdrawalInEveryForm(ofBridge: $0) })
    }
}
