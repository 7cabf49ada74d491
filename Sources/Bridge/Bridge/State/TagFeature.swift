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
    /// Its entities in Home Assistant, which every tag has.
    static var entities: [Entity] { get }
    /// The key of ``stored`` in the state file.
    static var key: String { get }

    /// Creates the value of a tag.
    ///
    /// - Parameters:
    ///   - stored: what an earlier run has kept; nil if it has kept nothing.
    ///   - isAnnounced: whether Home Assistant discovery is on.
    init(stored: JSONValue?, isAnnounced: Bool)

    /// What the state file keeps; nil for nothing.
    var stored: JSONValue? { get }

    /// When it is told ``FeatureEvent/deadline``; nil if nothing is due.
    var deadline: Instant? { get }

    /// Whether the tag does something for it now. Then its link stays, and it is told ``FeatureEvent/gesture``.
    var isActive: Bool { get }

    /// Whether it sets the tag's LED again and again, so that a lost response leaves nothing unknown for long.
    var setsLight: Bool { get }

    /// Its retained messages.
    func facts(_ topics: TagTopics) -> [Publication]

    /// Handles an event of its tag.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - position: the index of the tag. The features of this tag are not in the table meanwhile.
    ///   - tags: the tags.
    ///   - now: the current time.
    ///   - effects: gets its publications and its commands to the tag.
    mutating func handle(
        _ event: FeatureEvent, of position: Int, in tags: inout TagTable, at now: Timestamp, _ effects: inout Effects)
}

/// What happens to a tag that a feature may answer.
enum FeatureEvent {
    /// A command has succeeded, and its ``TagRequestOutcome`` has this order; whether one that it has cancelled was sent to the tag already.
    case ordered(any Sendable, hasCancelled: Bool)
    /// The tag has made a gesture.
    case gesture
    /// The link has ended.
    case linkEnded
    /// The bridge removes the tag.
    case removed
    /// The bridge ends.
    case stopping
    /// Time has passed. It may come early.
    case deadline
    /// Home Assistant discovery was switched on or off.
    case announced(Bool)
}

extension TagTable {
    /// Tells the features of a tag what has happened.
    mutating func tell(_ event: FeatureEvent, _ position: Int, at now: Timestamp, _ effects: inout Effects) {
        var features = self[position].features
        let (wasActive, stored) = (features.isActive, features.stored)
        features.handle(event, of: position, in: &self, at: now, &effects)
        self[position].features = features
        if features.isActive != wasActive { activeTags += wasActive ? -1 : 1 }
        guard features.stored != stored else { return }
        self[position].memory.isSet = true
        self[position].store(&effects)
    }
}
