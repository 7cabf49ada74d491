import HomeAssistant
import Time

// MARK: Reloading the configuration

extension BridgeState {
    /// Applies changed settings of Home Assistant, defaults and limits. The list of configured tags is only stored:
    /// added, removed and changed tags are reported separately.
    ///
    /// - Parameters:
    ///   - new: the settings; base topic and instance must be those of the start.
    ///   - isBrokerConnected: whether Home Assistant can be notified immediately.
    ///   - now: the current time.
    /// - Returns: the actions to perform.
    public mutating func adopt(
        _ new: BridgeConfiguration, isBrokerConnected: Bool, at now: Moment
    ) -> [BridgeAction] {
        guard !isStopped else { return [] }
        defer { updateDeadline() }
        let isAnnouncedOtherwise = configuration.homeAssistant != new.homeAssistant
        configuration = new
        pendingCommands.commandsPerTag = new.commandsPerTag
        guard isAnnouncedOtherwise else { return [] }
        return announceOtherwise(isBrokerConnected: isBrokerConnected, at: now)
    }

    /// Applies a changed name or connection policy of a tag; ignored for an unknown id.
    public mutating func change(_ entry: TagEntry, at now: Moment) -> [BridgeAction] {
        guard !isStopped, let position = position(of: entry.id) else { return [] }
        defer { updateDeadline() }
        tags[position].entry = entry
        return publish([tags[position].infoFact] + discoveryFacts(ofTag: position)) + settle(position, at: now)
    }

    /// Removes a tag from the bridge and keeps its bond; ignored for an unknown id.
    public mutating func release(_ id: TagID, at now: Moment) -> [BridgeAction] {
        guard !isStopped, let position = position(of: id) else { return [] }
        defer { updateDeadline() }
        return [.disconnect(id)] + depart(position, telling: [], of: nil, at: now)
    }

    /// Migrates the discovery documents to another form or prefix, as after a restart, or removes them if discovery is
    /// off.
    private mutating func announceOtherwise(isBrokerConnected: Bool, at now: Moment) -> [BridgeAction] {
        let old = discovery
        let ids = tags.map(\.entry.id.text)
        discovery = HomeAssistantDiscovery(configuration, topics: topics)
        guard discovery != nil else {
            return publish(
                (old?.documents.withdrawal(ofBridgeAndTags: ids).map(Publication.init) ?? [])
                    + topics.ofHomeAssistant.map { .noFact($0) })
        }
        discovery?.setTags(ids)
        if let old { discovery?.takeOver(from: old, tags: ids) }
        if isBrokerConnected { discovery?.life.brokerConnected(at: now.instant.sinceBoot) }
        return [.subscribe(discovery?.life.filters ?? [])] + publish(connectedTagsFact + pairingFact + foundFact)
    }
}
