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

    private var batches = TagBatches(tagsPerTurn: tagsPerTurn, distance: distance)
    private var isAgain = false
    private var hasPostponed = false
    /// When the postponed touch modes are due; nil before the last tags are announced.
    private var touchModesDue: Instant?

    /// Whether all tags are announced.
    var isComplete: Bool { batches.deadline == nil }

    /// When the next tags or the touch modes are due; nil if there are none.
    var deadline: Instant? { batches.deadline ?? touchModesDue }

    /// Starts with the first tags. Tags that still wait are announced with the others.
    ///
    /// - Parameters:
    ///   - tags: all tags.
    ///   - again: whether to publish even if the broker has the same messages.
    ///   - now: the current time.
    mutating func begin(_ tags: [TagID], again: Bool, at now: Instant) {
        isAgain = again
        touchModesDue = nil
        batches.schedule(tags, at: now)
    }

    /// Postpones the repetition of touch modes to the end of the announcements.
    ///
    /// - Returns: false if all tags are announced.
    mutating func postponesTouchModes() -> Bool {
        if batches.deadline != nil { hasPostponed = true }
        return hasPostponed
    }

    /// Returns the tags that are due, whether to publish their announcements even if the broker has them, and whether the
    /// postponed touch modes are due.
    mutating func takeDue(at now: Instant) -> (tags: ArraySlice<TagID>, isAgain: Bool, isEnd: Bool) {
        if let due = touchModesDue, due <= now {
            (touchModesDue, hasPostponed) = (nil, false)
            return ([], isAgain, true)
        }
        let tags = batches.takeDue(at: now)
        if hasPostponed, !tags.isEmpty, batches.deadline == nil { touchModesDue = now + Self.pause }
        return (tags, isAgain, false)
    }
}
