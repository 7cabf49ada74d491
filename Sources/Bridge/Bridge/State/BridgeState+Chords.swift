import JacquardProtocol

extension BridgeState {
    /// Handles a gesture while there are chords or reflexes.
    mutating func chordGesture(_ gesture: MadeGesture, of id: TagID, at now: Timestamp) -> [BridgeAction] {
        guard !chords.isEmpty else { return occurred([.gesture(gesture)], on: id, at: now) }
        let (events, completed) = chords.made(gesture, by: id)
        guard !completed.isEmpty, let position = tags.position(of: id) else { return occurred(events, on: id, at: now) }
        let stats = tags[position].countChords(completed, at: now)
        return occurred(events, on: id, at: now) + publish(stats)
    }

    /// Publishes held-back gestures that can no longer become part of a chord.
    mutating func releaseDueGestures(at now: Timestamp) -> [BridgeAction] {
        guard !chords.isEmpty else { return [] }
        return chords.takeDue(at: now.instant).flatMap { occurred($0.events, on: $0.tag, at: now) }
    }

    /// Publishes all held-back gestures.
    mutating func releaseHeldGestures(at now: Timestamp) -> [BridgeAction] {
        chords.removeAll().flatMap { occurred($0.events, on: $0.tag, at: now) }
    }

    /// Publishes the held-back gestures of a tag that is removed.
    mutating func releaseHeldGestures(of id: TagID, at now: Timestamp) -> [BridgeAction] {
        occurred(chords.remove(id), on: id, at: now)
    }

    /// Uses the chords of a changed configuration. The gestures until now don't count for them.
    mutating func chordsChanged(at now: Timestamp) -> [BridgeAction] {
        let released = releaseHeldGestures(at: now)
        chords = ChordTable(configuration.options.chords)
        return released + publish(tags.indices.flatMap { tags[$0].chordsChanged(to: configuration.options.chords) })
    }

    /// Publishes gestures and chords of a tag, and gives the commands of their reflexes, which come first. A held-back
    /// gesture has the time at which it was made, and its whole lifetime.
    ///
    /// - Parameters:
    ///   - events: the gestures and chords.
    ///   - id: the tag.
    ///   - now: the current time.
    /// - Returns: the actions.
    private mutating func occurred(_ events: [GestureEvent], on id: TagID, at now: Timestamp) -> [BridgeAction] {
        guard !events.isEmpty, let position = tags.position(of: id) else { return [] }
        let (topic, tag) = (tags[position].topics.gesture, tags[position].handle)
        let commands = reflexTable.isEmpty ? [] : events.flatMap { reflexes(to: .event($0.name), of: id, at: now) }
        let publications = events.map { event in
            switch event {
            case .gesture(let made):
                var publication = gestures.publication(
                    on: topic, GestureName(made.gesture), number: made.gesture.rawValue, of: tag,
                    sequence: made.sequence, at: made.at)
                if made.at != now { publication.gesture.hold(from: made.at.instant, to: now.instant) }
                return publication
            case .chord(let name, let numbers, let sequence, let time):
                var publication = gestures.publication(
                    on: topic, chord: name, of: numbers, by: tag, sequence: sequence, at: time)
                if time != now { publication.gesture.hold(from: time.instant, to: now.instant) }
                return publication
            }
        }
        return commands + publish(publications)
    }
}
