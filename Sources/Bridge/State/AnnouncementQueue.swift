import JacquardProtocol
import Time

/// Tags whose announcements to Home Assistant are to be published, some in each turn of the loop: thousands of tags take
/// seconds, in which gestures and signals must not wait.
struct AnnouncementQueue: Sendable {
    /// The number of tags per turn.
    static let tagsPerTurn = 8
    /// The time between two turns, for other work.
    static let distance = Duration.milliseconds(2)
    /// The time that Home Assistant needs for an announcement before it evaluates a state.
    private static let pause = Duration.seconds(1)

    private var waiting: ArraySlice<TagID> = []
    private var isAgain = false
    private var hasPostponed = false

    /// When the next tags are due; nil if there are none.
    private(set) var deadline: Instant?

    /// Starts with the first tags. Tags that still wait are announced with the others.
    ///
    /// - Parameters:
    ///   - tags: all tags.
    ///   - again: whether to publish even if the broker has the same messages.
    ///   - now: the current time.
    mutating func begin(_ tags: [TagID], again: Bool, at now: Instant) {
        (waiting, isAgain, deadline) = (tags[...], again, now)
    }

    /// Postpones the repetition of touch modes to the end of the announcements.
    ///
    /// - Returns: false if all tags are announced.
    mutating func postponesTouchModes() -> Bool {
        if !waiting.isEmpty { hasPostponed = true }
        return hasPostponed
    }

    /// Returns the tags that are due, whether to publish their announcements even if the broker has them, and whether the
    /// postponed touch modes are due.
    mutating func takeDue(at now: Instant) -> (tags: ArraySlice<TagID>, isAgain: Bool, isEnd: Bool) {
        guard let due = deadline, due <= now else { return ([], false, false) }
        let tags = waiting.prefix(Self.tagsPerTurn)
        waiting = waiting.dropFirst(tags.count)
        guard waiting.isEmpty else {
            deadline = now + Self.distance
            return (tags, isAgain, false)
        }
        // First the last tags, and a second later the touch modes.
        let isEnd = hasPostponed && tags.isEmpty
        if isEnd { hasPostponed = false }
        deadline = hasPostponed ? now + Self.pause : nil
        return (tags, isAgain, isEnd)
    }
}
