import JacquardProtocol
import Time

/// The consequences of gestures and other events of tags: publications, chords, and commands that the user has attached
/// to them.
struct Reactions: Sendable {
    /// An effect of an event.
    enum Effect {
        /// Publish a gesture or a chord.
        case publish(Publication)
        /// Give a tag the command of a reflex.
        case perform(Reflex, on: TagID)
    }

    /// Encodes gestures and chords.
    var gestures: GestureEncoder
    private var chords: ChordTable
    private var reflexes: ReflexTable

    init(chords: [Chord], reflexes: [Reflex], _ gestures: GestureEncoder) {
        self.gestures = gestures
        self.chords = ChordTable(chords)
        self.reflexes = ReflexTable(reflexes)
    }

    /// Whether a gesture is published at once, and nothing else is done.
    var isEmpty: Bool { chords.isEmpty && reflexes.isEmpty }

    /// Whether the configuration has reflexes.
    var hasReflexes: Bool { !reflexes.isEmpty }

    /// When the next held-back gesture is due.
    var deadline: Instant? { chords.deadline }

    /// Uses the reflexes of a changed configuration.
    mutating func setReflexes(_ new: [Reflex]) { reflexes = ReflexTable(new) }

    /// Uses the chords of a changed configuration. The gestures until now don't count for them.
    mutating func setChords(_ new: [Chord], _ tags: some ReactingTags, at now: Timestamp, _ effects: inout [Effect]) {
        releaseAll(tags, at: now, &effects)
        chords = ChordTable(new)
    }
}

// MARK: Gestures and chords

extension Reactions {
    /// Handles a gesture.
    ///
    /// - Returns: the chords that the gesture has completed, which the statistics count.
    mutating func made(
        _ gesture: MadeGesture, by id: TagID, of tags: some ReactingTags, at now: Timestamp, _ effects: inout [Effect]
    ) -> [String] {
        guard !chords.isEmpty else {
            occurred([.gesture(gesture)], on: id, tags, at: now, &effects)
            return []
        }
        let (events, completed) = chords.made(gesture, by: id)
        occurred(events, on: id, tags, at: now, &effects)
        return completed
    }

    /// Publishes held-back gestures that can no longer become part of a chord.
    mutating func releaseDue(_ tags: some ReactingTags, at now: Timestamp, _ effects: inout [Effect]) {
        guard !chords.isEmpty else { return }
        for held in chords.takeDue(at: now.instant) { occurred(held.events, on: held.tag, tags, at: now, &effects) }
    }

    /// Publishes all held-back gestures.
    mutating func releaseAll(_ tags: some ReactingTags, at now: Timestamp, _ effects: inout [Effect]) {
        for held in chords.removeAll() { occurred(held.events, on: held.tag, tags, at: now, &effects) }
    }

    /// Publishes the held-back gestures of a tag that is removed.
    mutating func release(_ id: TagID, of tags: some ReactingTags, at now: Timestamp, _ effects: inout [Effect]) {
        occurred(chords.remove(id), on: id, tags, at: now, &effects)
    }

    /// Forgets the cool-downs of a tag.
    mutating func remove(_ id: TagID) { reflexes.remove(id) }

    /// Publishes gestures and chords of a tag after the commands of their reflexes. A held-back gesture has the time at which
    /// it was made, and its whole lifetime.
    private mutating func occurred(
        _ events: [GestureEvent], on id: TagID, _ tags: some ReactingTags, at now: Timestamp, _ effects: inout [Effect]
    ) {
        guard !events.isEmpty, let (tag, topic) = tags.gestureTopic(of: id) else { return }
        for event in events { occurred(.event(event.name), by: id, of: tags, at: now, &effects) }
        for event in events { effects.append(.publish(publication(of: event, by: tag, on: topic, at: now))) }
    }

    private mutating func publication(
        of event: GestureEvent, by tag: TagHandle, on topic: String, at now: Timestamp
    ) -> Publication {
        var publication: Publication
        let madeAt: Timestamp
        switch event {
        case .gesture(let made):
            publication = gestures.publication(
                on: topic, GestureName(made.gesture), number: made.gesture.rawValue, of: tag, sequence: made.sequence,
                at: made.at)
            madeAt = made.at
        case .chord(let name, let numbers, let sequence, let time):
            publication = gestures.publication(
                on: topic, chord: name, of: numbers, by: tag, sequence: sequence, at: time)
            madeAt = time
        }
        if madeAt != now { publication.gesture.hold(from: madeAt.instant, to: now.instant) }
        return publication
    }
}

// MARK: Reflexes

extension Reactions {
    /// Handles an event that may trigger reflexes.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - source: the tag that reported it; nil for the broker.
    ///   - tags: the known tags.
    ///   - now: the current time.
    ///   - effects: gets the commands.
    mutating func occurred(
        _ event: ReflexEvent, by source: TagID?, of tags: some ReactingTags, at now: Timestamp,
        _ effects: inout [Effect]
    ) {
        guard !reflexes.isEmpty else { return }
        for reflex in reflexes.due(event, by: source, at: now.instant) {
            let targets = (reflex.target ?? source).map { [$0] } ?? tags.connected
            for target in targets { effects.append(.perform(reflex, on: target)) }
        }
    }

    /// Handles an event of a tag that may have changed its gear or its battery.
    ///
    /// - Parameters:
    ///   - id: the tag.
    ///   - old: what was known before the event.
    ///   - new: what is known since.
    ///   - tags: the known tags.
    ///   - now: the current time.
    ///   - effects: gets the commands.
    mutating func changed(
        _ id: TagID, from old: ReflexFacts, to new: ReflexFacts, of tags: some ReactingTags, at now: Timestamp,
        _ effects: inout [Effect]
    ) {
        if let isAttached = new.isGearAttached, let before = old.isGearAttached, isAttached != before {
            occurred(.gear(isAttached: isAttached), by: id, of: tags, at: now, &effects)
        }
        if let level = new.batteryLevel, level != old.batteryLevel {
            occurred(.battery(level, before: old.batteryLevel), by: id, of: tags, at: now, &effects)
        }
    }
}

/// The facts of a tag that may trigger reflexes.
struct ReflexFacts {
    /// nil until the tag reports it.
    let isGearAttached: Bool?
    /// In percent; nil until it is known.
    let batteryLevel: UInt32?
}

/// The known tags, as far as the reactions ask about them.
protocol ReactingTags {
    /// Returns a tag's handle, and where its gestures are published; nil for an unknown tag.
    func gestureTopic(of id: TagID) -> (tag: TagHandle, topic: String)?

    /// The connected tags, in order.
    var connected: [TagID] { get }
}
