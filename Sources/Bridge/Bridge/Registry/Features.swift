import HomeAssistant
import JSON
import JacquardProtocol
import Time

/// The features of a tag that have a door: ``TagFeature``. Only this file names them.
struct Features: Sendable {
    private var find: Find

    /// The features, in the order of topics and entities.
    static let all: [any TagFeature.Type] = [Find.self]

    private var values: [any TagFeature] { [find] }

    private mutating func forEach(_ body: (inout any TagFeature) -> Void) {
        Self.change(&find, body)
    }

    /// When they are told ``FeatureEvent/deadline``; nil if nothing is due.
    private(set) var deadline: Instant?
    /// Whether the tag does something for one of them now.
    private(set) var isActive = false
    /// Whether one of them sets the tag's LED again and again.
    private(set) var setsLight = false

    /// Creates the features of a tag.
    ///
    /// - Parameters:
    ///   - stored: what an earlier run has kept, by key.
    ///   - isAnnounced: whether Home Assistant discovery is on.
    init(stored: [String: JSONValue], isAnnounced: Bool) {
        find = Find(stored: stored[Find.key], isAnnounced: isAnnounced)
    }

    private static func change<Feature: TagFeature>(_ feature: inout Feature, _ body: (inout any TagFeature) -> Void) {
        var value: any TagFeature = feature
        body(&value)
        if let value = value as? Feature { feature = value }
    }

    /// Passes an event on to each of them; see ``TagTable/tell(_:_:at:_:)``.
    mutating func handle(
        _ event: FeatureEvent, of position: Int, in tags: inout TagTable, at now: Timestamp, _ effects: inout Effects
    ) {
        forEach { $0.handle(event, of: position, in: &tags, at: now, &effects) }
        let values = values
        deadline = values.compactMap(\.deadline).min()
        isActive = values.contains(where: \.isActive)
        setsLight = values.contains(where: \.setsLight)
    }

    /// What the state file keeps, by key.
    var stored: [String: JSONValue] {
        Dictionary(values.compactMap { value in value.stored.map { (type(of: value).key, $0) } }) { $1 }
    }

    /// Their retained messages.
    func facts(_ topics: TagTopics) -> [Publication] { values.flatMap { $0.facts(topics) } }

    /// The topics of the retained messages that they don't have now.
    func unusedTopics(_ topics: TagTopics) -> [String] {
        let used = Set(facts(topics).map(\.topic))
        return Self.topics.filter(\.isFact).map { topics[$0] }.filter { !used.contains($0) }
    }
}

extension Features {
    static let topics = all.flatMap { $0.topics }
    static let commands = all.flatMap { $0.commands }
    static let entities = all.flatMap { $0.entities }
}

extension TagCommandLine {
    /// The command lines of the features of tags.
    public static let ofFeatures = Features.all.flatMap { $0.commandLines }
}

extension TagRecord {
    /// The keys of ``features``.
    public static let featureKeys = Features.all.map { $0.key }
}
