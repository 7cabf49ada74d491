import HomeAssistant
import JSON
import JacquardProtocol
import Time

// The features of tags that have a door: `TagFeature`. Only this file names them.

/// The features of a tag.
struct Features: Sendable {
    private var find: Find
    private var slide: Slide
    private var motion: Motion
    private var raw: Raw

    /// The features, in the order of topics and entities.
    static let all: [any TagFeature.Type] = [Find.self, Slide.self, Motion.self, Raw.self]

    private var values: [any TagFeature] { [find, slide, motion, raw] }

    private mutating func forEach(_ body: (inout any TagFeature) -> Void) {
        Self.change(&find, body)
        Self.change(&slide, body)
        Self.change(&motion, body)
        Self.change(&raw, body)
    }

    /// Creates the features of a tag.
    ///
    /// - Parameters:
    ///   - stored: what an earlier run has kept, by key.
    ///   - options: the settings.
    ///   - isAnnounced: whether Home Assistant discovery is on.
    init(stored: [String: JSONValue] = [:], _ options: BridgeOptions, isAnnounced: Bool = false) {
        find = Find(stored: Find.value(in: stored), options, isAnnounced: isAnnounced)
        slide = Slide(stored: Slide.value(in: stored), options, isAnnounced: isAnnounced)
        motion = Motion(stored: Motion.value(in: stored), options, isAnnounced: isAnnounced)
        raw = Raw(stored: Raw.value(in: stored), options, isAnnounced: isAnnounced)
        summarize()
    }

    /// When they are told ``FeatureEvent/deadline``; nil if nothing is due.
    private(set) var deadline: Instant?
    /// Whether the tag does something for one of them now.
    private(set) var isActive = false
    /// The word of the touch mode that is on; nil if it is none of theirs.
    private(set) var touchMode: String?
    /// Whether one of them sets the tag's LED again and again.
    private(set) var setsLight = false
    /// Whether one of them uses the raw data characteristic.
    private(set) var usesRawData = false
    /// The keys of those that the tag has used.
    private(set) var used: [String] = []

    private static func change<Feature: TagFeature>(_ feature: inout Feature, _ body: (inout any TagFeature) -> Void) {
        var value: any TagFeature = feature
        body(&value)
        if let value = value as? Feature { feature = value }
    }

    /// Passes an event on to each of them; see ``TagMirror/tell(_:at:_:)``.
    ///
    /// - Returns: whether what the state file keeps has changed.
    mutating func handle(
        _ event: FeatureEvent, of tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> Bool {
        change { $0.handle(event, of: &tag, at: now, &effects) }
    }

    /// Changes one of them; see ``TagMirror/update(_:_:)``.
    ///
    /// - Returns: whether what the state file keeps has changed.
    mutating func update<Feature: TagFeature>(_ type: Feature.Type, _ body: (inout Feature) -> Void) -> Bool {
        change { feature in
            guard var value = feature as? Feature else { return }
            body(&value)
            feature = value
        }
    }

    /// Returns the value of one of them; nil if there is no such feature.
    subscript<Feature: TagFeature>(type: Feature.Type) -> Feature? {
        for value in values { if let value = value as? Feature { return value } }
        return nil
    }

    private mutating func change(_ body: (inout any TagFeature) -> Void) -> Bool {
        var isStoredChanged = false
        forEach { feature in
            let stored = feature.stored
            body(&feature)
            if feature.stored != stored { isStoredChanged = true }
        }
        summarize()
        return isStoredChanged
    }

    private mutating func summarize() {
        let values = values
        deadline = values.compactMap(\.deadline).min()
        isActive = values.contains(where: \.isActive)
        touchMode = values.lazy.compactMap(\.touchMode).first
        setsLight = values.contains(where: \.setsLight)
        usesRawData = values.contains(where: \.usesRawData)
        used = values.filter(\.isUsed).compactMap { type(of: $0).storedKey }
    }

    /// What the state file keeps, by key.
    var stored: [String: JSONValue] {
        var stored: [String: JSONValue] = [:]
        for value in values { if let key = type(of: value).storedKey { stored[key] = value.stored } }
        return stored
    }

    /// Their retained messages.
    func facts(_ topics: TagTopics) -> [Publication] { values.flatMap { $0.facts(topics) } }

    /// The topics of the retained messages that they have now and that a reload can switch off.
    func usedTopics(_ topics: TagTopics) -> [String] {
        let used = Set(facts(topics).map(\.topic))
        return Self.switchedTopics(topics).filter(used.contains)
    }

    /// The topics of the retained messages that they don't have now and that a reload can switch on.
    func unusedTopics(_ topics: TagTopics) -> [String] {
        let used = Set(usedTopics(topics))
        return Self.switchedTopics(topics).filter { !used.contains($0) }
    }

    private static func switchedTopics(_ topics: TagTopics) -> [String] {
        Self.topics.facts { $0 == .feature }.map { topics.command($0) }
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
    /// Data of the motion sensor (`imu`).
    public var motion = MotionOptions()
    /// Whether administrators may use raw data (`raw`).
    public var allowsRawData = false

    /// The defaults of the contract.
    public init() {}
}

/// What the features of tags have declared, for those who know none of them.
public enum FeatureTable {
    /// The keys of the configuration, in the order of the documentation.
    public static var keys: [FeatureKey] { Features.all.flatMap { $0.keys } }

    /// The command lines.
    public static let commandLines = Features.all.flatMap { $0.commandLines }

    /// The keys of ``TagRecord/features``.
    public static let storedKeys = Features.all.compactMap { $0.storedKey }

    /// The touch modes.
    static let touchModes = Features.all.flatMap { $0.touchModes }
}
