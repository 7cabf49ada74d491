import JSON
import JacquardProtocol
import Time

/// A former instance name of this bridge, with its starts.
public struct FormerInstance: Hashable, Sendable {
    /// The name in topics.
    public var name: String
    /// The `boot` values of the latest starts under this name. `G/info` belongs to this bridge if it contains one of
    /// them.
    public var boots: [String]

    /// Creates a former name.
    public init(name: String, boots: [String]) {
        self.name = name
        self.boots = boots
    }
}

/// A damaged state file.
public struct DamagedState: Hashable, Sendable {
    /// A record that could not be read.
    public struct Record: Hashable, Sendable {
        /// The tag: its id or serial, or the number of the record such as `number 3`.
        public var name: String
        /// The serial, if it could be read.
        public var serial: String?
        /// A clause such as `held is missing`.
        public var reason: String

        /// Creates a description of a record.
        public init(name: String, serial: String?, reason: String) {
            (self.name, self.serial, self.reason) = (name, serial, reason)
        }
    }

    /// The path of the copy of the damaged file.
    public var keptAs: String
    /// The records that could not be read; empty if none could be.
    public var records: [Record]

    /// Creates a description of a damaged file.
    public init(keptAs: String, records: [Record]) {
        (self.keptAs, self.records) = (keptAs, records)
    }
}

/// Facts about earlier runs of this bridge.
public struct EarlierRuns: Hashable, Sendable {
    /// Former instance names whose topics may still be retained.
    public var instances: [FormerInstance]
    /// Whether the list of tags that were paired by command could be read. If not, no tag's topics are cleared.
    public var areTagsKnown: Bool
    /// The damage of that list; nil if there was none.
    public var damage: DamagedState?

    /// Creates a description of earlier runs; by default there were none.
    public init(instances: [FormerInstance] = [], areTagsKnown: Bool = true, damage: DamagedState? = nil) {
        self.instances = instances
        self.areTagsKnown = areTagsKnown
        self.damage = damage
    }
}

/// Finds topics that earlier runs of this bridge left at the broker: those of tags that it no longer knows, and of its
/// former names.
///
/// After each connection it collects retained messages for a second. A tag belongs to this bridge if its `T/info` names
/// this bridge or a former name of it. A former name belongs to this bridge if its `G/info` has the `boot` of one of
/// its own starts: another bridge may use the name now.
struct FormerTopics: Sendable {
    /// The topics to clear.
    struct Findings: Hashable, Sendable {
        var tags: [TagEntry] = []
        var instances: [String] = []
    }

    /// How long to collect retained messages.
    static let pause = Duration.seconds(1)
    /// Maximum number of tags per connection; the rest is left to the next one.
    static let maxCount = 256
    /// Maximum number of bytes read per connection.
    static let maxBytesRead = 1 << 20

    private let instance: ExactText
    private var former: [ExactText: [String]]
    private let areTagsKnown: Bool
    private var collectsUntil: Instant?
    /// Whether the `info` topics of all tags are subscribed to.
    private var readsTags = false
    private var bytesRead = 0
    /// The serial of each tag, and the bridge named in its `T/info`.
    private var tags: [TagID: (serial: String, bridge: ExactText)] = [:]
    private var found: Set<ExactText> = []

    init(instance: String, _ runs: EarlierRuns) {
        self.instance = ExactText(instance)
        areTagsKnown = runs.areTagsKnown
        former = Dictionary(runs.instances.map { (ExactText($0.name), $0.boots) }) { first, _ in first }
        former[self.instance] = nil
    }

    /// When the collection ends.
    var deadline: Instant? { collectsUntil }

    /// Starts the collection, after a connection and its subscriptions are made.
    mutating func brokerConnected(at now: Instant) {
        collectsUntil = now + Self.pause
        (bytesRead, tags, found, readsTags) = (0, [:], [], true)
    }

    /// Returns whether to end the subscription to the `info` topics of all tags, once per connection: after the
    /// collection, because with many bridges such messages are many.
    mutating func takeEndOfTags() -> Bool {
        guard collectsUntil == nil else { return false }
        defer { readsTags = false }
        return readsTags
    }

    /// Returns whether this bridge had a name in an earlier run.
    func isFormerName(_ name: String) -> Bool { former[ExactText(name)] != nil }

    /// Reads the retained document of a tag that the bridge does not know.
    mutating func received(info: [UInt8], of tag: TagID) {
        guard areTagsKnown, tags.count < Self.maxCount, mayRead(info), let document = JSONValue(parsing: info),
            let bridge = document["bridge"]?.string.map({ ExactText($0) }), bridge == instance || former[bridge] != nil
        else { return }
        tags[tag] = (document["serial"]?.string ?? tag.text, bridge)
    }

    /// Reads the retained document of a bridge.
    mutating func received(info: [UInt8], ofBridge name: String) {
        let name = ExactText(name)
        guard let boots = former[name], mayRead(info), let boot = JSONValue(parsing: info)?["boot"]?.string else {
            return
        }
        if boots.contains(boot) { found.insert(name) }
    }

    /// Returns the findings once the collection has ended.
    mutating func takeDue(at now: Instant) -> Findings? {
        guard let until = collectsUntil, until <= now else { return nil }
        collectsUntil = nil
        defer { (tags, found) = ([:], []) }
        let tags = tags.filter { $0.value.bridge == instance || found.contains($0.value.bridge) }
            .map { TagEntry(id: $0.key, serial: $0.value.serial) }
        return Findings(tags: tags.sorted { $0.id.text < $1.id.text }, instances: found.sorted().map(\.text))
    }

    /// Removes a former name whose topics are cleared.
    mutating func cleared(_ name: String) {
        former[ExactText(name)] = nil
    }

    private mutating func mayRead(_ bytes: [UInt8]) -> Bool {
        guard collectsUntil != nil, bytesRead + bytes.count <= Self.maxBytesRead else { return false }
        bytesRead += bytes.count
        return true
    }
}
