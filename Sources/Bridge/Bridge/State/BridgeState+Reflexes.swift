import JacquardProtocol

extension BridgeState {
    /// Gives the commands of the reflexes that an event triggers.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - source: the tag that reported it; nil for the broker.
    ///   - now: the current time.
    /// - Returns: the actions that give them.
    mutating func reflexes(to event: ReflexEvent, of source: TagID?, at now: Timestamp) -> [BridgeAction] {
        guard !reflexTable.isEmpty else { return [] }
        return reflexTable.due(event, by: source, at: now.instant).flatMap { reflex in
            targets(of: reflex, source).flatMap { perform(reflex, on: $0, at: now) }
        }
    }

    /// Gives the commands of the reflexes on a tag's gear and battery.
    ///
    /// - Parameters:
    ///   - position: the tag, which has handled its event.
    ///   - gearBefore: whether gear was attached before the event; nil if that was unknown.
    ///   - batteryBefore: the battery level before the event; nil if it was unknown.
    ///   - now: the current time.
    /// - Returns: the actions that give them.
    mutating func reflexes(
        of position: Int, gearBefore: Bool?, batteryBefore: UInt32?, at now: Timestamp
    ) -> [BridgeAction] {
        let (id, tag) = (tags[position].entry.id, tags[position])
        var actions: [BridgeAction] = []
        if let isAttached = tag.isGearAttached, let gearBefore, isAttached != gearBefore {
            actions += reflexes(to: .gear(isAttached: isAttached), of: id, at: now)
        }
        if let level = tag.batteryLevel, level != batteryBefore {
            actions += reflexes(to: .battery(level, before: batteryBefore), of: id, at: now)
        }
        return actions
    }

    /// Handles a change of the connection to the broker. The first connection is not the end of an outage, and without one
    /// there is nothing to lose.
    mutating func brokerChanged(isConnected: Bool, at now: Timestamp) -> [BridgeAction] {
        guard isConnected != isBrokerConnected else { return [] }
        pendingCommands.isBrokerConnected = isConnected
        let isFirst = isBrokerConnected == nil
        if isConnected || !isFirst { isBrokerConnected = isConnected }
        return isFirst ? [] : reflexes(to: .broker(isConnected: isConnected), of: nil, at: now)
    }

    private func targets(of reflex: Reflex, _ source: TagID?) -> [TagID] {
        if let tag = reflex.target ?? source { return [tag] }
        return tags.filter(\.isConnected).map(\.entry.id)
    }

    /// Gives a tag the command of a reflex: the way of a command from MQTT that does not wait for its tag, at the head of
    /// the tag's queue.
    private mutating func perform(_ reflex: Reflex, on target: TagID, at now: Timestamp) -> [BridgeAction] {
        let requester = Requester(reflex: reflex, resultTopic: topics.tag(target).command("reflex/result"), at: now)
        do throws(CommandFailure) {
            let position = try tagPosition(target.text)
            let request = try reflex.request.row.init(
                reflex.request.payload, in: requestContext(of: position))
            try pendingCommands.checkRoomForReflex(on: target)
            return try begin(request, of: position, requester, publishesResult: true, within: .zero, at: now)
        } catch {
            return publish(pendingCommands.fail(requester, error, at: now))
        }
    }
}
