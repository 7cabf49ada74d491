import JSON
import JacquardProtocol
import Time

/// `T/find`: whether a tag blinks. It is published since its first use, and always while Home Assistant discovery is on.
struct FindFact: Hashable, Sendable {
    var isOn = false
    /// Whether the tag was ever searched for.
    var isUsed: Bool
    /// Whether Home Assistant discovery is on.
    var isDiscovered: Bool

    /// Whether it is published.
    var isShown: Bool { isUsed || isDiscovered }
}

extension TagMirror {
    /// `T/find`; nothing before its first use.
    var findFacts: [Publication] {
        find.isShown ? [.fact(topics[.find], word: find.isOn ? "on" : "off")] : []
    }

    /// Handles the begin or the end of the blinking, which takes the LED from other patterns.
    mutating func findChanged(isOn: Bool) -> [Publication] {
        let wasLit = tagLED.isOn
        self[led: .tag].turnOff()
        self[led: .gear].turnOff()
        let light = wasLit ? [ledFact] : []
        guard isOn != find.isOn else { return light }
        find.isOn = isOn
        if isOn { find.isUsed = true }
        return light + findFacts
    }

    /// Handles a changed setting of Home Assistant discovery.
    mutating func setDiscovered(_ isDiscovered: Bool, at now: Timestamp) -> [Publication] {
        guard find.isDiscovered != isDiscovered else { return [] }
        find.isDiscovered = isDiscovered
        return [connectionFact(at: now)] + findFacts
    }

    /// The parts of the tag and its gear that can be noticed, except the tag's own LED.
    fileprivate var findableGear: Set<Capability> {
        (gear?.value?.capabilities ?? []).intersection([.led, .haptic])
    }
}

extension BridgeState {
    /// Performs a successful `find/set`.
    mutating func findChanged(_ change: FindChange, of position: Int, at now: Timestamp) -> [BridgeAction] {
        let id = tags[position].entry.id
        switch change {
        case .start(let duration):
            finds.start(id, for: duration, at: now.instant)
            let facts = publish(tags[position].findChanged(isOn: true)) + [tags[position].store()].compactMap(\.self)
            return facts + blinkGear(of: position, for: min(duration, FindTable.round))
        case .stop:
            let starts = failAll(of: position, .cancelledByStop, at: now) { $0 is FindSet }
            return starts.actions + endFind(of: position, isHalting: true, isStarting: starts.wasSent)
        }
    }

    /// Ends the blinking of a tag, if it blinks or has just been told to.
    mutating func endFind(of position: Int, isHalting: Bool, isStarting: Bool = false) -> [BridgeAction] {
        let id = tags[position].entry.id
        guard finds.end(id) || isStarting else { return [] }
        var commands: [TagCommand] = []
        if isHalting, tags[position].isConnected {
            let gear = tags[position].findableGear
            commands = [.playLEDPattern(.haltAll, on: .tag)]
            if gear.contains(.led) { commands.append(.playLEDPattern(.haltAll, on: .gear)) }
            if gear.contains(.haptic) { commands.append(.playHaptic(.stop)) }
        }
        return perform(commands, on: position) + publish(tags[position].findChanged(isOn: false))
    }

    /// Ends the blinking of a tag that was touched.
    mutating func found(_ tag: TagHandle) -> [BridgeAction] {
        defer { updateDeadline() }
        return tags.position(of: tag).map { endFind(of: $0, isHalting: true) } ?? []
    }

    /// Continues or ends the blinking of tags.
    mutating func findsDue(at now: Timestamp) -> [BridgeAction] {
        guard !finds.isEmpty else { return [] }
        let (rounds, ended) = finds.takeDue(at: now.instant)
        return rounds.flatMap { round -> [BridgeAction] in
            guard let position = tags.position(of: round.tag) else { return [] }
            let light = TagCommand.playLEDPattern(.finding(for: round.duration), on: .tag)
            return perform([light], on: position) + blinkGear(of: position, for: round.duration)
        } + ended.compactMap(tags.position).flatMap { publish(tags[$0].findChanged(isOn: false)) }
    }

    private mutating func blinkGear(of position: Int, for duration: Duration) -> [BridgeAction] {
        let gear = tags[position].findableGear
        var commands: [TagCommand] = []
        if gear.contains(.led) { commands.append(.playLEDPattern(.finding(for: duration), on: .gear)) }
        if gear.contains(.haptic) { commands.append(.playHaptic(.finding(for: duration))) }
        return perform(commands, on: position)
    }

    /// Sends commands whose results are ignored.
    mutating func perform(_ commands: [TagCommand], on position: Int) -> [BridgeAction] {
        commands.map { .perform($0, on: tags[position].handle, token: pendingCommands.unusedToken()) }
    }
}

extension PendingCommands {
    /// The commands of a tag that meet a condition, sent or not.
    func tokens(of tag: TagID, where isMeant: (any TagRequest) -> Bool) -> [UInt64] {
        pending.compactMap { command in
            guard case .tag(tag, let request) = command.work, isMeant(request), !request.isImmediate else { return nil }
            return command.token
        }
    }
}

extension TopicRow {
    static let find = TopicRow("find", .fact, while: .feature, isRecorded: true) { document in
        document == "on" ? "blinks until it is found" : "does not blink"
    }
}
