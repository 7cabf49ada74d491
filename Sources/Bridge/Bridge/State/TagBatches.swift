import JacquardProtocol
import Time

/// Tags that wait for work, which is done for some of them in each turn of the loop: for thousands of tags it takes longer
/// than gestures and signals may wait.
struct TagBatches: Sendable {
    /// The number of tags per turn, and the time between two turns for other work, unless the work of a tag takes long.
    static let (tagsPerTurn, distance) = (100, Duration.milliseconds(1))

    private let tagsPerTurn: Int
    private let distance: Duration
    private var waiting: ArraySlice<TagID> = []

    /// When the next tags are due; nil if there are none.
    private(set) var deadline: Instant?

    init(tagsPerTurn: Int = tagsPerTurn, distance: Duration = distance) {
        (self.tagsPerTurn, self.distance) = (tagsPerTurn, distance)
    }

    /// Starts again with the given tags, the first of which are due now.
    mutating func schedule(_ tags: [TagID], at now: Instant) {
        (waiting, deadline) = (tags[...], tags.isEmpty ? nil : now)
    }

    /// Starts again with the given tags.
    ///
    /// - Returns: the first tags, which are due now.
    mutating func begin(_ tags: [TagID], at now: Instant) -> ArraySlice<TagID> {
        schedule(tags, at: now)
        return takeDue(at: now)
    }

    /// Returns the tags that are due.
    mutating func takeDue(at now: Instant) -> ArraySlice<TagID> {
        guard let due = deadline, due <= now else { return [] }
        let tags = waiting.prefix(tagsPerTurn)
        waiting = waiting.dropFirst(tags.count)
        deadline = waiting.isEmpty ? nil : now + distance
        return tags
    }
}

/// The work with all tags, which is spread over time.
struct TagWork: Sendable {
    /// Publishing all facts after the start.
    var facts = TagBatches()
    /// Connecting or disconnecting after Bluetooth has changed.
    var connections = TagBatches()
    /// Deciding which facts to publish after a connection to the broker.
    var scopes = TagBatches()
    /// Limits the facts that list the tags while many of them connect.
    var lists = Throttle(every: .zero)
    /// Limits the repetition of all facts on request; requests in between are combined.
    var refreshes = Throttle(every: .seconds(10))

    /// When some of it is due; nil if there is none.
    var deadline: Instant? {
        var deadline = facts.deadline
        deadline.lower(to: connections.deadline)
        deadline.lower(to: scopes.deadline)
        deadline.lower(to: lists.due)
        deadline.lower(to: refreshes.due)
        return deadline
    }
}
