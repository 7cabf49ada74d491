import JacquardProtocol
import Time

/// A removed tag, a former instance name of the bridge, or features that were switched off, whose retained topics are not
/// cleared yet.
struct Departure: Sendable {
    /// The source of the topics.
    enum Origin: Sendable {
        /// A tag, with the request that removed it and gets the result; nil if the tag was removed from the
        /// configuration.
        case tag(TagEntry, Request?)
        /// A former instance name.
        case formerInstance(String)
        /// Features that were switched off.
        case features
        /// Former places. Their announcements were changed or withdrawn before.
        case formerPlaces
        /// A part of them: there is more than is read at one connection.
        case partOfFormerPlaces
    }

    /// A request to forget a tag, with the data of its result.
    struct Request: Sendable {
        let token: UInt64
        let data: CommandData
    }

    fileprivate(set) var origin: Origin
    let retainedTopics: [String]
    let due: Instant
}

/// The tags that are being forgotten, and the topics that are cleared a second after their discovery.
struct Departures: Sendable {
    /// How long Home Assistant has to remove devices and entities before their topics are cleared. It logs an error for each
    /// template that reads an empty message.
    private static let delay = Duration.seconds(1)

    /// The same after announcements that name other topics from now on: three seconds more for a migration to another form and
    /// for many tags.
    private static let delayAfterAnnouncements = Duration.seconds(4)

    private var forgetting: Set<TagID> = []
    private var pending: [Departure] = []

    /// When to clear the next topics.
    var deadline: Instant? { pending.map(\.due).min() }

    /// Whether all topics are cleared.
    var isEmpty: Bool { pending.isEmpty }

    /// Returns whether the driver is removing a tag's bond.
    func isForgetting(_ id: TagID) -> Bool { forgetting.contains(id) }

    /// Sets whether the driver is removing a tag's bond.
    mutating func setForgetting(_ id: TagID, _ isForgetting: Bool) {
        if isForgetting { forgetting.insert(id) } else { forgetting.remove(id) }
    }

    /// Adds topics to clear after the delay.
    mutating func append(_ origin: Departure.Origin, retainedTopics: [String], at now: Instant) {
        let delay =
            switch origin {
            case .formerPlaces, .partOfFormerPlaces: Self.delayAfterAnnouncements
            case .tag, .formerInstance, .features: Self.delay
            }
        pending.append(Departure(origin: origin, retainedTopics: retainedTopics, due: now + delay))
    }

    /// Adds a request for a tag that was removed without one.
    ///
    /// - Returns: whether its topics are still to be cleared; if not, the request is complete.
    mutating func join(_ request: Departure.Request, serial: String) -> Bool {
        for index in pending.indices {
            guard case .tag(let entry, nil) = pending[index].origin, entry.serial == serial else { continue }
            pending[index].origin = .tag(entry, request)
            return true
        }
        return false
    }

    /// Removes and returns the departures that are due.
    mutating func takeDue(at now: Instant) -> [Departure] { take { $0.due <= now } }

    /// Removes and returns all departures.
    mutating func takeAll() -> [Departure] { take { _ in true } }

    /// Removes and returns the departures of a tag.
    mutating func take(_ id: TagID) -> [Departure] {
        take { if case .tag(let entry, _) = $0.origin { entry.id == id } else { false } }
    }

    private mutating func take(where isDue: (Departure) -> Bool) -> [Departure] {
        let due = pending.filter(isDue)
        pending.removeAll(where: isDue)
        return due
    }
}
