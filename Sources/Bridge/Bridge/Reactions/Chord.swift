public import JacquardProtocol
import Time

/// Two to four gestures of one tag that are an event of their own if the tag reports them one after the other within a
/// time (`chords` in the configuration).
public struct Chord: Hashable, Sendable {
    /// Its `event_type`: 1 to 32 of `a-z 0-9 _`, beginning with a letter. No gesture has this name.
    public var name: String
    /// The gestures in order.
    public var gestures: [Gesture]
    /// The longest time from the first gesture to the last one, inclusive.
    public var within: Duration
    /// Whether its gestures are held back until the chord is complete or can no longer become so.
    public var isExclusive: Bool
    /// The tags that it applies to; nil for all tags.
    public var tags: [TagID]?

    /// Describes a chord.
    public init(
        name: String, of gestures: [Gesture], within: Duration = .milliseconds(800), isExclusive: Bool = false,
        tags: [TagID]? = nil
    ) {
        self.name = name
        self.gestures = gestures
        self.within = within
        self.isExclusive = isExclusive
        self.tags = tags
    }

    /// Returns whether it applies to a tag.
    func applies(to tag: TagID) -> Bool { tags?.contains(tag) ?? true }
}

extension [Chord] {
    /// The names of those that apply to a tag.
    func names(of tag: TagID) -> [String] { filter { $0.applies(to: tag) }.map(\.name) }
}

/// A gesture that a tag has reported.
struct MadeGesture: Hashable, Sendable {
    let gesture: Gesture
    /// Its number among the tag's events.
    let sequence: UInt64
    let at: Timestamp
}

/// An event on `T/gesture`.
enum GestureEvent: Hashable, Sendable {
    case gesture(MadeGesture)
    /// A chord, with the sequence numbers of its gestures.
    case chord(name: String, of: [UInt64], sequence: UInt64, at: Timestamp)

    /// The sequence number of the event.
    var sequence: UInt64 {
        switch self {
        case .gesture(let gesture): gesture.sequence
        case .chord(_, _, let sequence, _): sequence
        }
    }

    /// The `event_type`.
    var name: String {
        switch self {
        case .gesture(let made): GestureName(made.gesture).rawValue
        case .chord(let name, _, _, _): name
        }
    }

    /// The name of a chord.
    var chord: String? {
        if case .chord(let name, _, _, _) = self { name } else { nil }
    }
}
