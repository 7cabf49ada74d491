import JacquardProtocol

extension BridgeState {
    /// Handles a gesture while there are chords.
    mutating func chordGesture(_ gesture: MadeGesture, of id: TagID, at now: Timestamp) -> [BridgeAction] {
        let (events, completed) = chords.made(gesture, by: id)
        guard !completed.isEmpty, let position = tags.position(of: id) else { return occurred(events, on: id) }
        let stats = tags[position].countChords(completed, at: now)
        return occurred(events, on: id) + publish(stats)
    }

    /// Publishes held-back gestures that can no longer become part of a chord.
    mutating func releaseDueGestures(at now: Timestamp) -> [BridgeAction] {
        guard !chords.isEmpty else { return [] }
        return chords.takeDue(at: now.instant).flatMap { occurred($0.events, on: $0.tag) }
    }

    /// Publishes all held-back gestures.
    mutating func releaseHeldGestures() -> [BridgeAction] {
        chords.removeAll().flatMap { occurred($0.events, on: $0.tag) }
    }

    /// Publishes the held-back gestures of a tag that is removed.
    mutating func releaseHeldGestures(of id: TagID) -> [BridgeAction] {
        occurred(chords.remove(id), on: id)
    }

    /// Uses the chords of a changed configuration. The gestures until now don't count for them.
    mutating func chordsChanged() -> [BridgeAction] {
        let released = releaseHeldGestures()
        chords = ChordTable(configuration.chords)
        return released
    }

    /// Publishes gestures and chords of a tag. A held-back gesture has the time at which it was made, and its whole
    /// lifetime.
    private mutating func occurred(_ events: [GestureEvent], on id: TagID) -> [BridgeAction] {
        guard !events.isEmpty, let topic = tags.position(of: id).map({ tags[$0].topics.gesture }) else { return [] }
        return events.map { event in
            switch event {
            case .gesture(let made):
                .publish(
                    gestures.publication(
                        on: topic, GestureName(made.gesture), number: made.gesture.rawValue, sequence: made.sequence,
                        at: made.at))
            case .chord(let name, let numbers, let sequence, let time):
                .publish(
                    gestures.publication(on: topic, chord: name, of: numbers, sequence: sequence, at: time))
            }
        }
    }
}
