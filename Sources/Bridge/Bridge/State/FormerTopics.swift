public import HomeAssistant
import JSON
public import JacquardProtocol
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

/// A place where a run of this bridge has published.
public struct PublishedPlace: Hashable, Sendable {
    /// The place of the announcements.
    public struct Announcement: Hashable, Sendable {
        /// The discovery prefix.
        public var prefix: String
        /// The form.
        public var form: HomeAssistantConfiguration.Form

        /// Describes an announcement.
        public init(prefix: String, form: HomeAssistantConfiguration.Form) {
            (self.prefix, self.form) = (prefix, form)
        }
    }

    /// The bridge's name in topics.
    public var instance: String
    /// The prefix of all topics.
    public var base: String
    /// nil without discovery.
    public var announcement: Announcement?

    /// Describes a place.
    public init(instance: String, base: String, announcement: Announcement?) {
        (self.instance, self.base, self.announcement) = (instance, base, announcement)
    }

    /// The place of a configuration.
    public init(_ configuration: BridgeConfiguration) {
        self.init(
            instance: configuration.instance, base: configuration.baseTopic,
            announcement: configuration.homeAssistant.map { Announcement(prefix: $0.prefix, form: $0.form) })
    }

    /// The same name and base topic without the announcement.
    var withoutAnnouncement: PublishedPlace { PublishedPlace(instance: instance, base: base, announcement: nil) }
}

/// Facts about earlier runs of this bridge.
public struct EarlierRuns: Hashable, Sendable {
    /// Former instance names whose topics may still be retained.
    public var instances: [FormerInstance]
    /// The `boot` values of the latest starts under the present name.
    public var boots: [String]
    /// The places at which earlier runs have published, and may have left something.
    public var places: [PublishedPlace]
    /// Whether the list of tags that were paired by command could be read. If not, no tag's topics are cleared.
    public var areTagsKnown: Bool
    /// The damage of that list; nil if there was none.
    public var damage: DamagedState?
    /// The ids that other tags had in an earlier run.
    public var reassignedIDs: Set<TagID>
    /// The tags with a link that the process before has left, as one that is killed does: what their LEDs play is not known.
    public var linkedTags: Set<TagID>

    /// Creates a description of earlier runs; by default there were none.
    public init(
        instances: [FormerInstance] = [], boots: [String] = [], places: [PublishedPlace] = [],
        areTagsKnown: Bool = true, damage: DamagedState? = nil, reassignedIDs: Set<TagID> = [],
        linkedTags: Set<TagID> = []
    ) {
        self.instances = instances
        (self.boots, self.places) = (boots, places)
        (self.reassignedIDs, self.linkedTags) = (reassignedIDs, linkedTags)
        self.areTagsKnown = areTagsKnown
        self.damage = damage
    }
}

/// Finds topics that earlier runs of this bridge left at the broker: those of tags that it no longer knows, of its former names,
/// and of its former base topics.
///
/// After each connection it collects retained messages for a second. A tag belongs to this bridge if its `T/info` names
/// this bridge or a former name of it. A former name belongs to this bridge if its `G/info` has the `boot` of one of
/// its own starts: another bridge may use the name now.
struct FormerTopics: Sendable {
    /// The topics to clear.
    struct Findings: Hashable, Sendable {
        var tags: [TagEntry] = []
        var instances: [String] = []
        /// Former base topics with the name of the bridge there, and the tags whose facts it published.
        var elsewhere: [Elsewhere] = []
    }

    /// A former base topic.
    struct Elsewhere: Hashable, Sendable {
        let place: PublishedPlace
        var tags: [TagEntry]
        /// Whether these are all tags; if not, the next connection finds further ones.
        var isComplete = true
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
    /// The ids that other tags had in an earlier run.
    let reassignedIDs: Set<TagID>
    private var collectsUntil: Instant?
    /// Whether the `info` topics of all tags are subscribed to.
    private var readsTags = false
    private var bytesRead = 0
    /// The serial of each tag, and the bridge named in its `T/info`.
    private var tags: [TagID: (serial: String, bridge: ExactText)] = [:]
    private var found: Set<ExactText> = []
    /// The names under other base topics, with their starts.
    private var elsewhere: [(place: PublishedPlace, topics: BridgeTopics, boots: [String])]
    /// The serials of the tags whose `T/info` names this bridge, and the bridges of this one's starts, in the order of ``elsewhere``.
    private var tagsElsewhere: [[TagID: String]]
    private var foundElsewhere: Set<Int> = []
    /// Those with tags that were not read.
    private var unreadElsewhere: Set<Int> = []

    init(instance: String, base: String, _ runs: EarlierRuns) {
        self.instance = ExactText(instance)
        (areTagsKnown, reassignedIDs) = (runs.areTagsKnown, runs.reassignedIDs)
        former = Dictionary(runs.instances.map { (ExactText($0.name), $0.boots) }) { first, _ in first }
        former[self.instance] = nil
        var others: Set<PublishedPlace> = []
        elsewhere = runs.places.map(\.withoutAnnouncement)
            .filter { ExactText($0.base) != ExactText(base) && others.insert($0).inserted }
            .map { place in
                let boots =
                    place.instance == instance ? runs.boots : runs.instances.first { $0.name == place.instance }?.boots
                return (place, BridgeTopics(base: place.base, instance: place.instance, hasRadios: true), boots ?? [])
            }
        tagsElsewhere = elsewhere.map { _ in [:] }
    }

    /// The `info` topics under former base topics.
    var filtersElsewhere: [String] { elsewhere.flatMap { [$0.topics.infoOfEveryTag, $0.topics.info] } }

    /// Reads a message under a former base topic.
    mutating func receivedElsewhere(_ topic: String, _ payload: [UInt8]) {
        guard collectsUntil != nil else { return }
        for (index, other) in elsewhere.enumerated() {
            if topic == other.topics.info {
                guard mayRead(payload), let boot = JSONValue(parsing: payload)?["boot"]?.string else { continue }
                if other.boots.contains(boot) { foundElsewhere.insert(index) }
            } else if case .tagInfo(let level)? = other.topics.subject(of: topic), let id = TagID(String(level)),
                areTagsKnown
            {
                guard tagsElsewhere[index].count < Self.maxCount, mayRead(payload) else {
                    unreadElsewhere.insert(index)
                    continue
                }
                // Tags of other bridges take no place.
                guard let document = JSONValue(parsing: payload),
                    document["bridge"]?.string.map({ ExactText($0) }) == ExactText(other.place.instance)
                else { continue }
                tagsElsewhere[index][id] = document["serial"]?.string ?? id.text
            }
        }
    }

    /// Ends the search under former base topics, which are cleared or belong to another bridge now.
    mutating func endElsewhere() { (elsewhere, tagsElsewhere) = ([], []) }

    /// When the collection ends.
    var deadline: Instant? { collectsUntil }

    /// Starts the collection, after a connection and its subscriptions are made.
    mutating func brokerConnected(at now: Instant) {
        collectsUntil = now + Self.pause
        (bytesRead, tags, found, readsTags) = (0, [:], [], true)
        (tagsElsewhere, foundElsewhere, unreadElsewhere) = (elsewhere.map { _ in [:] }, [], [])
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
        let places = foundElsewhere.sorted().map { index in
            let tags = tagsElsewhere[index].map { TagEntry(id: $0.key, serial: $0.value) }
            return Elsewhere(
                place: elsewhere[index].place, tags: tags.sorted { $0.id.text < $1.id.text },
                // Where nothing but other bridges' tags is read, the next connection would find no more.
                isComplete: tags.isEmpty || !unreadElsewhere.contains(index))
        }
        return Findings(
            tags: tags.sorted { $0.id.text < $1.id.text }, instances: found.sorted().map(\.text), elsewhere: places)
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
