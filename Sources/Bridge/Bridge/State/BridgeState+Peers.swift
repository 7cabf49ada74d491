import HomeAssistant
import JSON
import JacquardProtocol
import MQTTTypes
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
        peers.deadlineReached(at: now.instant)
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

// MARK: Commands that are left to other bridges

extension BridgeState {
    /// Drops the pending commands of tags to which another bridge is connected. That bridge executes them, except those to
    /// a group that it does not have, those that it has ignored because the tag was connected here, and those that it has
    /// not received or has refused.
    mutating func dropCommands(
        ofTagsAt bridge: ExactText, _ change: PeerBridges.Change, at now: Timestamp
    ) -> [BridgeAction] {
        var actions: [BridgeAction] = []
        for command in pendingCommands.removeAnswered(in: change.refused) {
            guard case .tag(let id, let request) = command.work, let position = tags.position(of: id) else { continue }
            for requester in command.requesters {
                pendingCommands.traces.ended(requester.trace, .elsewhere, at: now.instant)
            }
            request.failed(on: &tags[position], nil, at: now)
            actions += tags[position].settle(at: now)
        }
        var refused = change.refused
        for position in change.connected.compactMap(tags.position).filter({ !tags[$0].isConnected }) {
            let id = tags[position].entry.id
            for token in pendingCommands.waiting(for: id, .connected) {
                guard var command = pendingCommands.remove(token), case .tag(_, let request) = command.work else {
                    continue
                }
                let refusal = command.requesters.first.flatMap { refused.firstIndex(of: RefusedCommand($0, of: id)) }
                if let refusal {
                    refused.remove(at: refusal)
                    command.requesters[0].add(unaware: bridge)
                }
                let isOnlyHere = command.isOnlyHere || command.unaware.contains(bridge)
                let offline =
                    isOnlyHere ? offlineFailure(of: position, at: now) : nil
                if let failure = offline ?? failureElsewhere(of: command) {
                    actions += failed(command, failure, at: now)
                    continue
                }
                for requester in command.requesters {
                    pendingCommands.traces.ended(requester.trace, .elsewhere, at: now.instant)
                }
                request.failed(on: &tags[position], nil, at: now)
                leave(
                    .execution(request), of: id.text, to: bridge, command.requesters, until: command.reachableUntil,
                    at: now)
            }
        }
        return actions
    }

    /// Keeps a command whose result another bridge publishes.
    ///
    /// - Parameters:
    ///   - work: what to do if that bridge has died.
    ///   - tag: the tag.
    ///   - bridge: the other bridge.
    ///   - requesters: the senders.
    ///   - instant: until when the command would have waited here.
    ///   - end: when it has ended at the other bridge; nil: now.
    ///   - now: the current time.
    mutating func leave(
        _ work: LeftCommand.Work, of tag: String, to bridge: ExactText, _ requesters: [Requester],
        until instant: Instant, endingAt end: Instant? = nil, at now: Timestamp
    ) {
        // A bridge that is connected to the tag has to prove that it lives before.
        let isConnected = peers.isConnected(bridge, to: tag)
        let isProven = isConnected || peers.isProven(bridge)
        let end = isConnected ? now.instant : end ?? now.instant
        let command = LeftCommand(
            work: work, tag: ExactText(tag), bridge: bridge, requesters: requesters, reachableUntil: instant,
            endsAt: end,
            doubtAt: isProven ? nil : end + LeftCommands.proof, awaitsReturn: !peers.isResponding(bridge))
        pendingCommands.left.add(command, at: now.instant)
    }

    /// Keeps a command to a tag that no bridge knows, if the first bridge by name responds and this one is the next.
    mutating func leaveUnknown(
        _ address: CommandAddress, _ message: MQTTMessage, as member: GroupMember?, at now: Timestamp
    ) {
        guard shutdown == nil, let tag = address.tag, let other = peers.responder(forUnknown: tag, as: member) else {
            return
        }
        let responseTopic = try? message.responseTopic(protecting: protectedTopics)
        let payload = Result { () throws(CommandFailure) in try CommandPayload(message.payload) }
        let id = CommandEnvelope.id(of: payload, message.payload)
        let requester = Requester(address, message, responseTopic, id: id, member: member, at: now)
        leave(
            .unknownTag(message.isRetained ? .retained : unknownTag(tag)), of: tag, to: other, [requester],
            until: now.instant, at: now)
    }

    /// Takes back the commands that were left to bridges that seem to have died, or no longer know the tag.
    mutating func takeBackCommands(at now: Timestamp) -> [BridgeAction] {
        // Other bridges take over from one that stops.
        guard shutdown == nil else { return [] }
        return pendingCommands.left.take(at: now.instant, peers.standing).flatMap { takeBack($0, at: now) }
    }

    private mutating func takeBack(_ command: LeftCommand, at now: Timestamp) -> [BridgeAction] {
        let member = command.requesters.first?.member
        let unaware = (command.requesters.first?.unaware ?? []).union([command.bridge])
        let position = TagID(command.tag.text).flatMap(tags.position)
        let isConnected = position.map { tags[$0].isConnected } ?? false
        let other =
            isConnected ? nil : peers.finalResponder(forKnown: command.tag.text, as: member, besides: unaware)
        if let other {
            leave(
                command.work, of: command.tag.text, to: other, command.requesters, until: command.reachableUntil,
                endingAt: command.endsAt, at: now)
            return []
        }
        return command.requesters.flatMap { requester -> [BridgeAction] in
            guard case .execution(let request) = command.work else {
                return publish(pendingCommands.publish(command, of: requester, at: now))
            }
            return execute(request, of: position, requester, until: command.reachableUntil, at: now)
        }
    }

    /// Executes a command that has been left to another bridge.
    private mutating func execute(
        _ request: any TagRequest, of position: Int?, _ requester: Requester, until instant: Instant, at now: Timestamp
    ) -> [BridgeAction] {
        if let stored = pendingCommands.storedResult(for: requester, at: now) {
            return publish(stored.publications)
        }
        do throws(CommandFailure) {
            guard let position else { throw CommandFailure.forgottenBeforeSending }
            let isInTime = now.instant < instant || type(of: request).ignoresHold
            guard isInTime, !isConnectedElsewhere(position) else {
                throw offlineFailure(of: position, at: now)
            }
            if try pendingCommands.join(requester) { return [] }
            return try begin(request, of: position, requester, within: max(.zero, instant - now.instant), at: now)
        } catch {
            return publish(pendingCommands.fail(requester, error, at: now))
        }
    }
}

// MARK: Beats

extension BridgeState {
    /// The filters of all received beats.
    var beatFilters: [String] { watch.map { beatTopics($0.sources) } ?? [] }

    mutating func brokerDisconnected(at now: Timestamp) -> [BridgeAction] {
        watch?.brokerDisconnected(at: now.instant)
        return log.end()
    }

    /// Handles a beat of this bridge or another one.
    mutating func beat(of name: String, _ message: MQTTMessage, at now: Timestamp) -> [BridgeAction] {
        let name = ExactText(name)
        guard !message.isRetained,
            let effects = watch?.received(
                beatOf: name, message.payload, isOnline: peers.isInRing(name), at: now.instant)
        else { return [] }
        return perform(effects, at: now)
    }

    mutating func beatsDue(at now: Timestamp) -> [BridgeAction] {
        perform(watch?.deadlineReached(at: now.instant) ?? [], at: now)
    }

    /// Handles a change of another bridge: watches the next bridges by name.
    mutating func ringChanged(at now: Timestamp) -> [BridgeAction] {
        guard peers.takeRingChange(), watch != nil else { return [] }
        let ring = peers.ring(of: FleetWatch.ringSize)
        return perform(watch?.ringChanged(to: ring, isOnline: peers.isInRing, at: now.instant) ?? [], at: now)
    }

    /// Begins or ends the watch after a change of the configuration.
    mutating func watchChanged(isBrokerConnected: Bool, at now: Timestamp) -> [BridgeAction] {
        guard configuration.options.watchesFleet != (watch != nil) else { return [] }
        guard configuration.options.watchesFleet else {
            let filters = beatFilters
            watch = nil
            return [.unsubscribe(filters)] + publish([infoFact])
        }
        var new = FleetWatch(instance: configuration.instance)
        if isBrokerConnected { new.brokerConnected(at: now.instant) }
        // The subscriptions follow for all sources at once.
        let ring = peers.ring(of: FleetWatch.ringSize)
        _ = new.ringChanged(to: ring, isOnline: peers.isInRing, at: now.instant)
        watch = new
        return [.subscribe(beatFilters)] + publish([infoFact])
    }

    private mutating func perform(_ effects: [FleetWatch.Effect], at now: Timestamp) -> [BridgeAction] {
        effects.flatMap { effect -> [BridgeAction] in
            switch effect {
            case .beat(let number): [.publish(beat(number))]
            case .subscribe(let names): [.subscribe(beatTopics(names))]
            case .unsubscribe(let names): [.unsubscribe(beatTopics(names))]
            case .silent(let name): silent(name, at: now)
            case .refresh(let name): [.publish(refreshRequest(to: name))]
            }
        }
    }

    private func beat(_ number: UInt64) -> Publication {
        .stream(topics.beat, payload: Array("\(number)".utf8))
    }

    private func beatTopics(_ names: [ExactText]) -> [String] {
        names.map { BridgeTopics(base: topics.base, instance: $0.text).beat }
    }
}

// MARK: Silent bridges

extension BridgeState {
    /// How long a message about another bridge is queued.
    private static let lifetime = FleetWatch.roundTrip

    /// Publishes `offline` for a silent bridge and its tags; its state comes last, because it answers that one.
    private mutating func silent(_ name: ExactText, at now: Timestamp) -> [BridgeAction] {
        let ids = peers.tags(ofSilent: name)
        let facts = ids.map { id in
            // A tag of both bridges.
            if let position = tags.position(of: id) { return tags[position].availabilityFact.reminder }
            return correction(topics.tag(id)[.availability])
        }
        let state = BridgeTopics(base: topics.base, instance: name.text).state
        let change = peers.received(state: Array("offline".utf8), of: name.text, isSilent: true, at: now.instant)
        let text = "No beat of the bridge \(name.text) for \(FleetWatch.patience.components.seconds) s"
        let event = event(.bridgeSilent, text: text, at: now)
        return peerChanged(change, at: now) + publish(facts + [correction(state), event]) + ringChanged(at: now)
    }

    private func correction(_ topic: String) -> Publication {
        Publication(topic: topic, payload: Array("offline".utf8), kind: .correction(lifetime: Self.lifetime))
    }

    private func refreshRequest(to name: ExactText) -> Publication {
        let topic = BridgeTopics(base: topics.base, instance: name.text).request(RefreshRequest.name)
        return Publication(topic: topic, payload: [], kind: .event(lifetime: Self.lifetime))
    }
}

// MARK: Repeated facts

extension BridgeState {
    /// The facts to publish again after a late will or another bridge has overwritten the state of this one.
    var overwrittenFacts: [Publication] { presenceFacts + (watch == nil ? [] : tags.map(\.availabilityFact)) }

    /// The state of the bridge, and for other bridges its tags: they forget what it was connected to when it is offline.
    var presenceFacts: [Publication] { [stateFact] + (peers.isEmpty ? [] : [infoFact]) }

    /// Returns all facts, which are published even if the broker has them.
    func allFactsAgain(at now: Timestamp) -> [Publication] {
        (bridgeFacts(at: now) + tags.flatMap { $0.allFacts(at: now) }).map(\.reminder)
    }
}
