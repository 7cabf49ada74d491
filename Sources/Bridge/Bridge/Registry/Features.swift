import HomeAssistant
import JSON
import JacquardProtocol
import Time

// The features of tags that have a door: `TagFeature`. Only this file names them.

/// The features of a tag.
struct Features: Sendable {
    private var find: Find
    private var slide: Slide
    private var raw: Raw

    /// The features, in the order of topics and entities.
    static let all: [any TagFeature.Type] = [Find.self, Slide.self, Raw.self]

    private var values: [any TagFeature] { [find, slide, raw] }

    private mutating func forEach(_ body: (inout any TagFeature) -> Void) {
        Self.change(&find, body)
        Self.change(&slide, body)
        Self.change(&raw, body)
    }

    /// Creates the features of a tag.
    ///
    /// - Parameters:
    ///   - stored: what an earlier run has kept, by key.
    ///   - isAnnounced: whether Home Assistant discovery is on.
    init(stored: [String: JSONValue], isAnnounced: Bool) {
        find = Find(stored: Find.value(in: stored), isAnnounced: isAnnounced)
        slide = Slide(stored: Slide.value(in: stored), isAnnounced: isAnnounced)
        raw = Raw(stored: Raw.value(in: stored), isAnnounced: isAnnounced)
    }

    /// When they are told ``FeatureEvent/deadline``; nil if nothing is due.
    private(set) var deadline: Instant?
    /// Whether the tag does something for one of them now.
    private(set) var isActive = false
    /// The word of the touch mode that is on; nil if it is none of theirs.
    private(set) var touchMode: String?
    /// Whether one of them sets the tag's LED again and again.
    private(set) var setsLight = false

    private static func change<Feature: TagFeature>(_ feature: inout Feature, _ body: (inout any TagFeature) -> Void) {
        var value: any TagFeature = feature
        body(&value)
        if let value = value as? Feature { feature = value }
    }

    /// Passes an event on to each of them; see ``TagMirror/tell(_:at:_:)``.
    mutating func handle(
        _ event: FeatureEvent, of tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) {
        forEach { $0.handle(event, of: &tag, at: now, &effects) }
        let values = values
        deadline = values.compactMap(\.deadline).min()
        isActive = values.contains(where: \.isActive)
        touchMode = values.lazy.compactMap(\.touchMode).first
        setsLight = values.contains(where: \.setsLight)
    }

    /// What the state file keeps, by key.
    var stored: [String: JSONValue] {
        var stored: [String: JSONValue] = [:]
        for value in values { if let key = type(of: value).storedKey { stored[key] = value.stored } }
        return stored
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

    /// Returns their entities; see ``TagFeature/entities(_:)``.
    static func entities(_ options: BridgeOptions?) -> [FeatureEntity] { all.flatMap { $0.entities(options) } }
}

extension TagFeature {
    fileprivate static func value(in stored: [String: JSONValue]) -> JSONValue? { storedKey.flatMap { stored[$0] } }
}

/// The settings of the features.
public struct FeatureOptions: Hashable, Sendable {
    /// The touch mode `slide` (`slide`).
    public var slide = SlideOptions()
    /// Whether administrators may use raw data (`raw`).
    public var allowsRawData = false

    /// The defaults of the contract.
    public init() {}
}

extension FeatureKey {
    /// The keys of the features, in the order of the documentation.
    public static var all: [FeatureKey] { Features.all.flatMap { $0.keys } }
}

extension TouchModeRow {
    static let ofFeatures = Features.all.flatMap { $0.touchModes }
}

extension TagCommandLine {
    /// The command lines of the features of tags.
    public static let ofFeatures = Features.all.flatMap { $0.commandLines }
}

extension TagRecord {
    /// The keys of ``features``.
    public static let featureKeys = Features.all.compactMap { $0.storedKey }
}
