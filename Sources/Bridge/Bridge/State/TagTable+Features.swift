import JacquardProtocol
import Time

// The features of tags that give commands of the bridge's own.

extension TagTable {
    /// Sends commands whose results are ignored.
    mutating func perform(_ commands: [TagCommand], on position: Int) -> [BridgeAction] {
        commands.map { .perform($0, on: self[position].handle, token: newToken()) }
    }

    /// Does what has become due for the features of a tag.
    ///
    /// - Parameters:
    ///   - position: the index of the tag.
    ///   - motionIdle: after which time an unused motion module is deactivated.
    ///   - now: the current time.
    /// - Returns: the actions.
    mutating func featuresDue(of position: Int, motionIdle: Duration, at now: Timestamp) -> [BridgeAction] {
        guard !self[position].rareFacts.isEmpty else { return [] }
        let motion = motion(of: position, idle: motionIdle, at: now) { motion, tag in
            motion.deadline.map { $0 <= now.instant } ?? false ? motion.deadlineReached(in: tag) : []
        }
        let slide = self[position].slideDue(at: now)
        return motion + publish(slide.publications) + (slide.ends ? endSlide(of: position) : [])
    }

    /// Ends the touch mode `slide`.
    mutating func endSlide(of position: Int) -> [BridgeAction] { perform([.setTouchMode(.gesture)], on: position) }

    /// Sets and reads again what lost responses have left unknown.
    ///
    /// - Parameters:
    ///   - position: the index of the tag.
    ///   - isBusy: whether the tag executes commands.
    ///   - now: the current time.
    /// - Returns: the actions.
    mutating func unconfirmedDue(of position: Int, isBusy: Bool, at now: Timestamp) -> [BridgeAction] {
        guard !self[position].rareFacts.isEmpty else { return [] }
        return self[position].unconfirmedDue(isBusy: isBusy, at: now).map { errand in
            let token = newToken()
            self[position].unconfirmed.sent(errand, token)
            return .perform(errand.command, on: self[position].handle, token: token)
        }
    }

    /// Handles the end of a command of the bridge's own.
    mutating func errandEnded(
        _ token: UInt64, _ result: Result<TagCommandResponse, TagCommandError>, of position: Int, motionIdle: Duration,
        at now: Timestamp
    ) -> [BridgeAction] {
        guard !self[position].rareFacts.isEmpty else { return [] }
        if self[position].rareFacts[0].unconfirmed.contains(token) {
            return publish(self[position].unconfirmedEnded(token, result, at: now))
        }
        guard let errand = self[position].rareFacts.first?.motion?.errands[token] else { return [] }
        self[position].motion.errands[token] = nil
        var text = ""
        if case .failure(let error) = result { text = CommandFailure(error, tag: self[position], at: now).text }
        return motion(of: position, idle: motionIdle, at: now) { $0.ended(errand, result, text, in: $1) }
    }

    /// Passes an event to the motion sensor of a tag, if it was ever used.
    ///
    /// - Parameters:
    ///   - position: the index of the tag.
    ///   - idle: after which time an unused module is deactivated.
    ///   - now: the current time.
    ///   - event: the event.
    /// - Returns: its effects as actions.
    mutating func motion(
        of position: Int, idle: Duration, at now: Timestamp,
        _ event: (inout MotionState, MotionState.Conditions) -> [MotionState.Effect]
    ) -> [BridgeAction] {
        guard self[position].rareFacts.first?.motion != nil else { return [] }
        let conditions = MotionState.Conditions(isConnected: self[position].isConnected, idle: idle, now: now)
        return event(&self[position].motion, conditions).flatMap { effect -> [BridgeAction] in
            switch effect {
            case .publishState: return publish(self[position].motionPublications)
            case .publishSamples(let payload):
                return publish([.stream(self[position].topics[MotionDataDocument.topic], payload: payload)])
            case .send(let errand):
                let token = newToken()
                self[position].motion.errands[token] = errand
                return [.perform(errand.command, on: self[position].handle, token: token)]
            case .file(let action): return [.motionFile(action, of: self[position].entry.id)]
            }
        }
    }
}

extension FindTable {
    /// Lets a tag blink, whose first round has begun.
    mutating func start(
        _ position: Int, of tags: inout TagTable, for duration: Duration, at now: Instant
    ) -> [BridgeAction] {
        start(tags[position].entry.id, for: duration, at: now)
        let facts = publish(tags[position].findChanged(isOn: true)) + [tags[position].store()].compactMap(\.self)
        return facts + tags.perform(tags[position].commandsToFindGear(for: min(duration, Self.round)), on: position)
    }

    /// Ends the blinking of a tag.
    ///
    /// - Parameters:
    ///   - position: the index of the tag.
    ///   - tags: the tags.
    ///   - isHalting: whether to switch the lights off: they are on.
    ///   - isStarting: whether the command to blink was sent just now, and no fact says so yet.
    /// - Returns: the actions.
    mutating func end(
        _ position: Int, of tags: inout TagTable, isHalting: Bool, isStarting: Bool = false
    ) -> [BridgeAction] {
        let end = end(tags[position].entry.id)
        guard end != nil || isStarting else { return [] }
        let commands = isHalting ? tags[position].commandsToEndFinding : []
        return tags.perform(commands, on: position)
            + publish(tags[position].findChanged(isOn: false, endingAt: isHalting ? nil : end))
    }

    /// Continues or ends the blinking of tags.
    mutating func deadlineReached(_ tags: inout TagTable, at now: Instant) -> [BridgeAction] {
        guard !isEmpty else { return [] }
        let (rounds, ended) = takeDue(at: now)
        var actions: [BridgeAction] = []
        for round in rounds {
            guard let position = tags.position(of: round.tag) else { continue }
            let light = TagCommand.playLEDPattern(.finding(for: round.duration), on: .tag)
            let gear = tags[position].commandsToFindGear(for: round.duration)
            actions += tags.perform([light] + gear, on: position) + publish(tags[position].findContinues())
        }
        for position in ended.compactMap(tags.position) {
            actions += publish(tags[position].findEnded(at: now))
        }
        return actions
    }
}
