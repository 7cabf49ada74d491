import JacquardProtocol
import Time

// The features of tags that give commands of the bridge's own.

extension TagTable {
    /// Does what has become due for the features of a tag.
    ///
    /// - Parameters:
    ///   - position: the index of the tag.
    ///   - motionIdle: after which time an unused motion module is deactivated.
    ///   - now: the current time.
    ///   - effects: gets the actions.
    mutating func featuresDue(of position: Int, motionIdle: Duration, at now: Timestamp, _ effects: inout Effects) {
        guard !self[position].rareFacts.isEmpty else { return }
        motion(of: position, idle: motionIdle, at: now, &effects) { motion, tag, effects in
            if let deadline = motion.deadline, deadline <= now.instant { motion.deadlineReached(in: tag, &effects) }
        }
    }

    /// Sets and reads again what lost responses have left unknown.
    ///
    /// - Parameters:
    ///   - position: the index of the tag.
    ///   - isBusy: whether the tag executes commands.
    ///   - now: the current time.
    ///   - effects: gets the actions.
    mutating func unconfirmedDue(of position: Int, isBusy: Bool, at now: Timestamp, _ effects: inout Effects) {
        guard !self[position].rareFacts.isEmpty else { return }
        for errand in self[position].unconfirmedDue(isBusy: isBusy, at: now) {
            let token = newToken()
            self[position].unconfirmed.sent(errand, token)
            effects.add(.perform(errand.command, on: self[position].handle, token: token))
        }
    }

    /// Handles the end of a command of the bridge's own.
    mutating func errandEnded(
        _ token: UInt64, _ result: Result<TagCommandResponse, TagCommandError>, of position: Int, motionIdle: Duration,
        at now: Timestamp, _ effects: inout Effects
    ) {
        guard !self[position].rareFacts.isEmpty else { return }
        if self[position].rareFacts[0].unconfirmed.contains(token) {
            return self[position].unconfirmedEnded(token, result, at: now, &effects)
        }
        guard let errand = self[position].rareFacts.first?.motion?.errands[token] else { return }
        self[position].motion.errands[token] = nil
        var text = ""
        if case .failure(let error) = result { text = self[position].failure(of: error, at: now).text }
        motion(of: position, idle: motionIdle, at: now, &effects) { $0.ended(errand, result, text, in: $1, &$2) }
    }

    /// Passes an event to the motion sensor of a tag, if it was ever used.
    ///
    /// - Parameters:
    ///   - position: the index of the tag.
    ///   - idle: after which time an unused module is deactivated.
    ///   - now: the current time.
    ///   - effects: gets its effects as actions.
    ///   - event: the event.
    mutating func motion(
        of position: Int, idle: Duration, at now: Timestamp, _ effects: inout Effects,
        _ event: (inout MotionState, MotionState.Conditions, inout [MotionState.Effect]) -> Void
    ) {
        guard self[position].rareFacts.first?.motion != nil else { return }
        let conditions = MotionState.Conditions(isConnected: self[position].isConnected, idle: idle, now: now)
        var decided: [MotionState.Effect] = []
        event(&self[position].motion, conditions, &decided)
        for effect in decided {
            switch effect {
            case .publishState: effects.publish(self[position].motionPublications)
            case .publishSamples(let payload):
                effects.publish(.stream(self[position].topics[MotionDataDocument.topic], payload: payload))
            case .send(let errand):
                let token = newToken()
                self[position].motion.errands[token] = errand
                effects.add(.perform(errand.command, on: self[position].handle, token: token))
            case .file(let action): effects.add(.motionFile(action, of: self[position].entry.id))
            }
        }
    }
}
