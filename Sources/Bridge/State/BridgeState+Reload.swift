// MARK: The configuration changes while the bridge runs

extension BridgeState {
    /// Other settings hold from now on: those of Home Assistant, the defaults and the limits. The tags of the configuration
    /// are noted only: each that comes, goes or changes is told by itself.
    ///
    /// - Parameters:
    ///   - new: the settings; base topic and instance have to be those of the start.
    ///   - isBrokerConnected: whether Home Assistant can be told at once.
    ///   - now: the present.
    /// - Returns: what to do.
    public mutating func adopt(
        _ new: BridgeConfiguration, isBrokerConnected: Bool, at now: Moment
    ) -> [BridgeAction] {
        guard !isStopped else { return [] }
        defer { updateDeadline() }
        let isAnnouncedOtherwise = configuration.homeAssistant != new.homeAssistant
        configuration = new
        desk.commandsPerTag = new.commandsPerTag
        guard isAnnouncedOtherwise else { return [] }
        return announceOtherwise(isBrokerConnected: isBrokerConnected, at: now)
    }

    /// A tag has another name, or is connected at other times; nothing happens unless its id is there.
    public mutating func change(_ entry: TagEntry, at now: Moment) -> [BridgeAction] {
        guard !isStopped, let position = position(of: entry.id) else { return [] }
        defer { updateDeadline() }
        tags[position].entry = entry
        return publish([tags[position].infoFact] + discoveryFacts(ofTag: position)) + settle(position, at: now)
    }

    /// A tag is not this bridge's any more, and keeps its bond; nothing happens unless its id is there.
    public mutating func release(_ id: TagID, at now: Moment) -> [BridgeAction] {
        guard !isStopped, let position = position(of: id) else { return [] }
        defer { updateDeadline() }
        return [.disconnect(id)] + depart(position, telling: [], of: nil, at: now)
    }

    /// What was announced moves to the new form or prefix as it does after a restart; without discovery it is taken away.
    private mutating func announceOtherwise(isBrokerConnected: Bool, at now: Moment) -> [BridgeAction] {
        let old = discovery
        discovery = HomeAssistantDiscovery(configuration, topics: topics)
        guard discovery != nil else {
            return publish((old?.withdrawal(of: tags) ?? []) + topics.ofHomeAssistant.map { .noFact($0) })
        }
        discovery?.follow(tags)
        if let old { discovery?.succeed(old, tags: tags) }
        if isBrokerConnected { discovery?.life.brokerConnected(at: now.instant) }
        return [.subscribe(discovery?.filters ?? [])] + publish(connectedTagsFact + pairingFact + foundFact)
    }
}
