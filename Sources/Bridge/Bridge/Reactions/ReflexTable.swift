import JacquardProtocol
import Time

/// Something that can trigger a reflex.
enum ReflexEvent: Hashable, Sendable {
    /// A gesture or chord that is published, by its `event_type`.
    case event(String)
    /// Gear was attached or detached.
    case gear(isAttached: Bool)
    /// A battery level in percent, and the one before it; nil for the first.
    case battery(UInt32, before: UInt32?)
    /// The broker is connected again, or lost.
    case broker(isConnected: Bool)
}

/// The reflexes of the configuration: a table from events to requests. Empty without reflexes.
struct ReflexTable: Sendable {
    /// A reflex and the tag whose event triggered it.
    private struct Use: Hashable, Sendable {
        let reflex: Int
        let tag: TagID?
    }

    private let reflexes: [Reflex]
    /// For each use with a cool-down, when it was triggered last.
    private var lastUses: [Use: Instant] = [:]

    init(_ reflexes: [Reflex]) {
        self.reflexes = reflexes
    }

    /// Whether there are no reflexes.
    var isEmpty: Bool { reflexes.isEmpty }

    /// Finds the reflexes that an event triggers.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - tag: the tag that reported it; nil for the broker.
    ///   - now: the current time.
    /// - Returns: the reflexes, in the order of the configuration.
    mutating func due(_ event: ReflexEvent, by tag: TagID?, at now: Instant) -> [Reflex] {
        var due: [Reflex] = []
        for (index, reflex) in reflexes.enumerated() where reflex.trigger.matches(event) {
            guard tag.map({ reflex.sources.isEmpty || reflex.sources.contains($0) }) ?? true else { continue }
            let use = Use(reflex: index, tag: tag)
            if let last = lastUses[use], now - last < reflex.cooldown { continue }
            if reflex.cooldown > .zero { lastUses[use] = now }
            due.append(reflex)
        }
        return due
    }

    /// Forgets the cool-downs of a tag.
    mutating func remove(_ tag: TagID) {
        lastUses = lastUses.filter { $0.key.tag != tag }
    }
}

extension Reflex.Trigger {
    /// Returns whether an event is this one.
    fileprivate func matches(_ event: ReflexEvent) -> Bool {
        switch (self, event) {
        case (.event(let name), .event(let occurred)): name == occurred
        case (.gear(let isAttached), .gear(let isNowAttached)): isAttached == isNowAttached
        case (.batteryBelow(let limit), .battery(let level, let before)):
            level < limit && before.map { $0 >= limit } ?? true
        case (.broker(let isConnected), .broker(let isNowConnected)): isConnected == isNowConnected
        case (.event, _), (.gear, _), (.batteryBelow, _), (.broker, _): false
        }
    }
}
