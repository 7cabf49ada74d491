import HomeAssistant
import JSON
import JacquardProtocol
import Time

/// A feature of tags behind one door: what the bridge, Home Assistant, the command line and the state file know of it is said here.
///
/// A feature is a folder with such a type, its commands and its documents, and one row in ``Features``. Each tag has a value of it, which
/// is told what happens to the tag, and changes nothing else.
protocol TagFeature: Sendable {
    /// Its topics.
    static var topics: [TopicRow] { get }
    /// Its commands to tags.
    static var commands: [any TagRequest.Type] { get }
    /// Its command lines.
    static var commandLines: [TagCommandLine] { get }
    /// Its touch modes.
    static var touchModes: [TouchModeRow] { get }
    /// Its keys of the configuration. Their values are in ``BridgeOptions/features``.
    static var keys: [FeatureKey] { get }
    /// The key of ``stored`` in the state file; nil if it stores nothing.
    static var storedKey: String? { get }

    /// Returns its entities in Home Assistant.
    ///
    /// - Parameter options: the settings; nil for all entities that settings can switch on.
    /// - Returns: the entities, in the order of the announcement.
    static func entities(_ options: BridgeOptions?) -> [FeatureEntity]

    /// Creates the value of a tag.
    ///
    /// - Parameters:
    ///   - stored: what an earlier run has kept; nil if it has kept nothing.
    ///   - options: the settings.
    ///   - isAnnounced: whether Home Assistant discovery is on.
    init(stored: JSONValue?, _ options: BridgeOptions, isAnnounced: Bool)

    /// What the state file keeps; nil for nothing.
    var stored: JSONValue? { get }

    /// When it is told ``FeatureEvent/deadline``; nil if nothing is due.
    var deadline: Instant? { get }

    /// Whether the tag does something for it now. Then its link stays, and it is told ``FeatureEvent/gesture``.
    var isActive: Bool { get }

    /// The word of its touch mode that is on; nil if none is. Then it is told ``FeatureEvent/touch(_:)``.
    var touchMode: String? { get }

    /// Whether it sets the tag's LED again and again, so that a lost response leaves nothing unknown for long.
    var setsLight: Bool { get }

    /// Whether it uses the raw data characteristic now.
    var usesRawData: Bool { get }

    /// Whether the tag has ever used it. Then it has the entities of ``FeatureEntity/Need/use(of:)`` with its ``storedKey``.
    var isUsed: Bool { get }

    /// Its retained messages.
    func facts(_ topics: TagTopics) -> [Publication]

    /// Handles an event of its tag.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - tag: the tag, with its features as they were before the event.
    ///   - now: the current time.
    ///   - effects: gets its publications and its commands to the tag.
    mutating func handle(_ event: FeatureEvent, of tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects)
}

extension TagFeature {
    static var topics: [TopicRow] { [] }
    static var commands: [any TagRequest.Type] { [] }
    static var commandLines: [TagCommandLine] { [] }
    static var touchModes: [TouchModeRow] { [] }
    static var keys: [FeatureKey] { [] }
    static var storedKey: String? { nil }
    static func entities(_ options: BridgeOptions?) -> [FeatureEntity] { [] }

    var stored: JSONValue? { nil }
    var deadline: Instant? { nil }
    var isActive: Bool { false }
    var touchMode: String? { nil }
    var setsLight: Bool { false }
    var usesRawData: Bool { false }
    var isUsed: Bool { false }
    func facts(_ topics: TagTopics) -> [Publication] { [] }
}

/// What happens to a tag that a feature may answer.
enum FeatureEvent {
    /// A command has succeeded, and its ``TagRequestOutcome`` has this order; whether one that it has cancelled was sent to the tag already.
    case ordered(any Sendable, hasCancelled: Bool)
    /// The tag has made a gesture.
    case gesture
    /// A command for a touch mode was accepted with these settings, and may wait for the tag.
    case touchModeRequested(String, BridgeOptions)
    /// The gear has confirmed a touch mode.
    case touchMode(TouchMode)
    /// The gear has sent a sample of its lines.
    case touch(TouchData)
    /// The tag has sent raw data of the views that a feature observes.
    case raw([UInt8], RawViews)
    /// Gear was taken off.
    case gearDetached
    /// The link has ended; before the facts of that.
    case linkEnded
    /// The link has begun or ended, and what follows from that was done.
    case linkChanged
    /// The tag has sent motion data.
    case motion(MotionReport)
    /// The tag has sent a notification with a body that no command has waited for.
    indirect case notified(Notification)
    /// The tag has listed its modules; whether it has activated one before.
    case modules([ModuleDescriptor], hasActivated: Bool)
    /// A command of ``TagMirror/request(_:_:)`` has ended: its token, its result, and an error in words.
    case commandEnded(UInt64, Result<TagCommandResponse, TagCommandError>, error: String)
    /// The driver has done something with a file of the tag.
    case file(FeatureFile, FeatureFileEvent)
    /// Another bridge has connected the tag.
    case takenOver
    /// Settings have changed; whether a command that they no longer allow was sent to the tag already.
    case configured(from: BridgeOptions, to: BridgeOptions, hasCancelled: Bool)
    /// The bridge removes the tag.
    case removed
    /// The bridge ends.
    case stopping
    /// Time has passed. It may come early.
    case deadline
    /// Home Assistant discovery was switched on or off.
    case announced(Bool)
}

extension TagMirror {
    /// Tells the features what has happened.
    mutating func tell(_ event: FeatureEvent, at now: Timestamp, _ effects: inout Effects) {
        var features = features
        let isStoredChanged = features.handle(event, of: &self, at: now, &effects)
        self.features = features
        guard isStoredChanged else { return }
        memory.isSet = true
        store(&effects)
    }

    /// Changes a feature by a command of its own. The next event of the tag stores what it keeps.
    mutating func update<Feature: TagFeature>(_ type: Feature.Type, _ body: (inout Feature) -> Void) {
        if features.update(type, body) { memory.isSet = true }
    }

    /// Sends commands whose results are ignored.
    func perform(_ commands: [TagCommand], _ effects: inout Effects) {
        for command in commands { effects.add(.perform(command, on: handle, token: Self.ignored)) }
    }

    /// Sends a command, whose end is told as ``FeatureEvent/commandEnded(_:_:error:)``.
    ///
    /// - Returns: its token.
    mutating func request(_ command: TagCommand, _ effects: inout Effects) -> UInt64 {
        rare.lastRequest += 1
        effects.add(.perform(command, on: handle, token: rare.lastRequest))
        return rare.lastRequest
    }

    /// Handles the end of a command that may be one of ``request(_:_:)``.
    mutating func requestEnded(
        _ token: UInt64, _ result: Result<TagCommandResponse, TagCommandError>, at now: Timestamp,
        _ effects: inout Effects
    ) {
        guard (RareFacts.firstRequest..<Self.ignored).contains(token) else { return }
        var text = ""
        if case .failure(let error) = result { text = failure(of: error, at: now).text }
        tell(.commandEnded(token, result, error: text), at: now, &effects)
    }

    /// The token of commands whose results are ignored: less than each of ``TagTable/newToken()``.
    private static let ignored: UInt64 = 1 << 63
}
