import HomeAssistant
import JSON
import JacquardProtocol
import Time

/// The actions for tags whose facts this bridge begins or ends to publish. In this order, a bridge that reads `elsewhere` in
/// this one's `info` has received all facts that this one has published.
struct ScopeEffects {
    /// Before other publications.
    var narrowing: [BridgeAction] = []
    /// Whether `G/info` has changed.
    var isInfoChanged = false
    /// After other publications.
    var widening: [BridgeAction] = []
}

extension BridgeState {
    /// Decides again which facts of tags this bridge publishes.
    mutating func rescope(_ positions: some Sequence<Int>, at now: Timestamp) -> ScopeEffects {
        var effects = ScopeEffects()
        for position in positions { rescope(position, &effects, at: now) }
        return effects
    }

    /// Decides again which facts of tags this bridge publishes, and returns the actions.
    mutating func rescoped(_ positions: some Sequence<Int>, at now: Timestamp) -> [BridgeAction] {
        let effects = rescope(positions, at: now)
        return effects.narrowing + publish(effects.isInfoChanged ? [infoFact] : []) + effects.widening
    }

    private mutating func rescope(_ position: Int, _ effects: inout ScopeEffects, at now: Timestamp) {
        let id = tags[position].entry.id
        let (isConnected, isListed) = (tags[position].isConnected, peers.lists(id))
        let old = scopes[id]
        let isChanged = scopes.decide(
            id, isConnected: isConnected, isClaimed: peers.isConnected(to: id.text), isListed: isListed, at: now.instant
        )
        let new = scopes[id]
        effects.isInfoChanged = effects.isInfoChanged || (old == .elsewhere) != (new == .elsewhere)
        switch new {
        case .undecided: break
        case .elsewhere:
            guard isChanged else { break }
            peers.expectProof(of: id)
            tags[position].slideTakenOver(at: now)
            effects.narrowing.append(.withhold(allTopics(of: position)))
        case .presence:
            guard isChanged else { break }
            let presence = presenceTopics(of: position)
            effects.narrowing.append(.withhold(allTopics(of: position).filter { !presence.contains($0) }))
            effects.widening.append(.republish(presence))
        case nil:
            // Another bridge may have published facts meanwhile.
            if isChanged || (isConnected && isListed) { effects.widening.append(republication(of: position)) }
        }
    }

    /// Publishes the facts of a tag again. Values that are unknown here don't replace those of another bridge.
    private mutating func republication(of position: Int) -> BridgeAction {
        let id = tags[position].entry.id
        let unknown = peers.lists(id) ? tags[position].unknownTopics : []
        scopes.setIncomplete(id, !unknown.isEmpty)
        return .republish(allTopics(of: position).filter { !unknown.contains($0) })
    }

    /// Publishes facts of a tag that were unknown, and are known now.
    mutating func completeFacts(of position: Int) -> [BridgeAction] {
        scopes.isIncomplete(tags[position].entry.id) && tags[position].isConnected ? [republication(of: position)] : []
    }

    /// All topics of a tag that another bridge may publish, too.
    mutating func allTopics(of position: Int) -> [String] {
        tags[position].retainedTopics + discoveryTopics(of: tags[position].entry.id)
    }

    private func presenceTopics(of position: Int) -> [String] {
        [tags[position].topics[.availability], tags[position].topics[.connection]]
    }

    mutating func discoveryTopics(of id: TagID) -> [String] {
        discovery?.topics(ofTag: id.text) ?? []
    }

    /// The tags whose facts are left to other bridges; nil if there are none.
    var tagsElsewhere: [String]? {
        guard scopes.hasAny else { return nil }
        let ids = tags.map(\.entry.id).filter { scopes[$0] == .elsewhere }.map(\.text)
        return ids.isEmpty ? nil : ids
    }
}

// MARK: Events

extension BridgeState {
    /// Withholds the facts of unconnected tags until it is known whether other bridges are connected to them.
    mutating func scopesUndecided(at now: Timestamp) -> [BridgeAction] {
        let positions = tags.indices.filter { !tags[$0].isConnected }
        scopes.brokerConnected(unconnected: positions.map { tags[$0].entry.id }, at: now.instant)
        let topics = positions.flatMap { position in
            let id = tags[position].entry.id
            // Discovery begins later, unless this is not the first connection.
            return peers.lists(id) ? allTopics(of: position) : tags[position].retainedTopics
        }
        return topics.isEmpty ? [] : [.withhold(topics)]
    }

    /// Handles the retained `info` of a known tag.
    mutating func received(info: [UInt8], ofTag position: Int) {
        let id = tags[position].entry.id
        guard scopes[id] == .undecided, info.count <= PeerBridges.longestInfo,
            let bridge = JSONValue(parsing: info)?["bridge"]?.string, bridge != configuration.instance,
            !former.isFormerName(bridge)
        else { return }
        scopes.isAuthoredElsewhere(id)
    }

    /// Handles the end of the retained messages.
    mutating func retainedMessagesEnded(at now: Timestamp) -> [BridgeAction] {
        (scopes.endCollection() ? rescopeAll(at: now) : []) + takeBackCommands(at: now)
    }

    /// Handles a message of another bridge.
    mutating func peerChanged(_ change: PeerBridges.Change, at now: Timestamp) -> [BridgeAction] {
        scopesChanged(change, at: now) + takeBackCommands(at: now)
    }

    private mutating func scopesChanged(_ change: PeerBridges.Change, at now: Timestamp) -> [BridgeAction] {
        // After the decision to stop, everything is published.
        let positions = shutdown == nil ? change.tags.compactMap(tags.position) : []
        guard !positions.isEmpty else { return [] }
        var actions = rescoped(positions.filter { !tags[$0].isConnected }, at: now)
        let unconnected = positions.filter { !tags[$0].isConnected }
        if change.isGone {
            // It may have published that the tag is connected, and died before it could publish more.
            let published = unconnected.filter { [nil, .presence].contains(scopes[tags[$0].entry.id]) }
            actions += published.map { .republish(presenceTopics(of: $0)) }
        }
        let removed = Set(change.removed)
        // It has left its commands to this bridge.
        if tags.contains(where: { removed.contains($0.entry.id) }) {
            pendingCommands.proves(until: now.instant + LeftCommands.lifetime)
        }
        for position in unconnected where removed.contains(tags[position].entry.id) {
            if scopes[tags[position].entry.id] == nil { actions.append(republication(of: position)) }
        }
        // It may have published facts before it received that this bridge is connected to the tag.
        let crossed = Set(change.isGone ? change.tags : change.yielded)
        let connected = positions.filter { tags[$0].isConnected }.map { tags[$0].entry.id }.filter(crossed.contains)
        return actions + corrected(scopes.correct(connected, at: now.instant))
    }

    /// Handles elapsed time.
    mutating func scopesDue(at now: Timestamp) -> [BridgeAction] {
        var actions = scopes.endCollection(dueAt: now.instant) ? rescopeAll(at: now) : []
        if scopes.takeProofDue(at: now.instant) {
            actions += rescoped(peers.doubtUnconfirmed().compactMap(tags.position), at: now)
        }
        for bridge in pendingCommands.left.takeDoubts(at: now.instant) {
            actions += rescoped(peers.doubt(bridge).compactMap(tags.position), at: now)
        }
        actions += takeBackCommands(at: now) + proofDue(at: now)
        return actions + corrected(scopes.takeCorrectionsDue(at: now.instant))
    }

    /// Publishes that this bridge lives, after results that other bridges have left to it.
    private mutating func proofDue(at now: Timestamp) -> [BridgeAction] {
        guard pendingCommands.takeProofDue(at: now.instant) else { return [] }
        let isForced = pendingCommands.provesUntil.map { now.instant <= $0 } ?? false
        return isForced || tags.contains { peers.isKnown($0.entry.id) } ? publish([infoFact.reminder]) : []
    }

    /// Publishes the facts of connected tags again, and that this bridge lives.
    private mutating func corrected(_ ids: [TagID]) -> [BridgeAction] {
        let positions = ids.compactMap(tags.position).filter { tags[$0].isConnected }
        guard !positions.isEmpty else { return [] }
        return publish([infoFact.reminder]) + positions.map { republication(of: $0) }
    }
}
