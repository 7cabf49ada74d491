import JSON
import JacquardProtocol
import Time

/// The presence of a tag, where `presence` is configured.
extension TagMirror {
    /// `T/presence`; nothing while presence is off.
    var presenceFacts: [Publication] {
        presence.map { [.fact(topics[.presence], PresenceDocument($0, radio: sighting.radio))] } ?? []
    }

    /// Passes an event to the presence, and returns its publication if it has changed.
    mutating func presenceChanged(_ event: Presence.Event, at now: Timestamp) -> [Publication] {
        guard presence?.handle(event, at: now) == true else { return [] }
        return presenceFacts
    }

    /// Handles a changed state of the connection.
    ///
    /// - Parameters:
    ///   - new: the new state. The error of a tag that falls asleep is removed, because it is no failure.
    ///   - lastSeen: when the tag was received before.
    ///   - now: the current time.
    /// - Returns: the publication, if the presence has changed.
    mutating func presenceChanged(
        by new: inout TagConnection, lastSeen: Timestamp?, at now: Timestamp
    ) -> [Publication] {
        guard presence != nil else { return [] }
        if new.state.isLinked { return presenceChanged(.linkUp, at: now) }
        guard link.connection.state.isLinked else {
            if presence?.state == .asleep { new.removeFailureOfSleepingTag(after: link.connection) }
            return []
        }
        if new.error?.code == .bluetoothPowerOff { return presenceChanged(.adapterOff, at: now) }
        let end = new.error == nil ? .local : new.error?.linkEnd
        let idle = lastSeen.map { now.instant - $0.instant }
        let facts = presenceChanged(.linkEnded(end, idle: idle, rssi: sighting.rssi), at: now)
        if presence?.state == .asleep { new.error = nil }
        return facts
    }

    /// Handles elapsed time.
    mutating func presenceDue(at now: Timestamp) -> [Publication] {
        presence?.deadlineReached(at: now) == true ? presenceFacts : []
    }

    /// Handles a changed setting: nil switches presence off.
    mutating func setPresence(awayAfter: Duration?, at now: Timestamp) -> [Publication] {
        guard let awayAfter else {
            if presence != nil { left.insert(.presence) }
            presence = nil
            return []
        }
        left.remove(.presence)
        guard presence == nil else {
            presence?.awayAfter = awayAfter
            return []
        }
        var new = Presence(awayAfter: awayAfter, at: now)
        if link.connection.state.isLinked { _ = new.handle(.linkUp, at: now) }
        presence = new
        return presenceFacts
    }
}

extension BridgeState {
    /// Applies a changed setting to all tags.
    mutating func presenceConfigured(at now: Timestamp) -> [BridgeAction] {
        let isOn = configuration.options.presence.limit != nil
        // Another bridge publishes the presence of its tags.
        let withheld = tags.filter { scopes[$0.entry.id] != nil }.map { BridgeAction.withhold([$0.topics[.presence]]) }
        let facts = tags.indices.flatMap { position in
            tags[position].setPresence(awayAfter: configuration.options.presence.limit, at: now)
                + [tags[position].connectionFact(at: now)]
        }
        if !isOn { departures.append(.features, retainedTopics: tags.flatMap(\.leftTopics), at: now.instant) }
        return (isOn ? withheld : []) + publish(facts) + tags.indices.compactMap { tags[$0].store() }
    }
}

extension TagConnection {
    /// Removes the failure of an attempt to reach a tag that sleeps, which is none: it connects when it wakes.
    mutating func removeFailureOfSleepingTag(after last: TagConnection) {
        switch error?.code {
        case .bluetoothConnectionError, .connectionTimeout: (error, attempt) = (nil, last.attempt)
        default: break
        }
    }
}

extension TopicRow {
    static let presence = TopicRow("presence", .fact, while: .feature, isRecorded: true) { document in
        let doubt = document["inferred"]?.flag == true ? ", as far as the bridge can tell" : ""
        return switch document["state"]?.string {
        case "here": "is here\(doubt)"
        case "asleep": "is asleep, and here\(doubt)"
        case "gone": "is gone\(doubt)"
        case "unknown": "has not been received yet"
        default: nil
        }
    }
}
