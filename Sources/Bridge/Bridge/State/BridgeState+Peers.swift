import HomeAssistant
import JSON
import JacquardProtocol
import MQTTTypes
import Time

/// The actions for tags whose facts this bridge begins or ends to publish. In this order, a bridge that reads `elsewhere` in
/// this one's `info` has received all facts that this one has published.
struct ScopeEffects {
    /// Before other publications.
    var narrowing = Effects()
    /// Whether `G/info` has changed.
    var isInfoChanged = false
    /// After other publications.
    var widening = Effects()
}

extension BridgeState {
    /// Decides again which facts of tags this bridge publishes.
    mutating func rescope(_ positions: some Sequence<Int>, at now: Timestamp) -> ScopeEffects {
        var effects = ScopeEffects()
        for position in positions { rescope(position, &effects, at: now) }
        return effects
    }

    /// Decides again which facts of tags this bridge publishes, and adds the actions.
    mutating func rescoped(_ positions: some Sequence<Int>, at now: Timestamp, _ effects: inout Effects) {
        let scope = rescope(positions, at: now)
        effects.append(scope.narrowing)
        if scope.isInfoChanged { effects.publish(infoFact) }
        effects.append(scope.widening)
    }

    private mutating func rescope(_ position: Int, _ effects: inout ScopeEffects, at now: Timestamp) {
        let id = tags[position].entry.id
        let (isConnected, isListed) = (tags[position].isConnected, fleet.peers.lists(id))
        let old = fleet.scopes[id]
        let isChanged = fleet.scopes.decide(
            id, isConnected: isConnected, isClaimed: fleet.peers.isConnected(to: id.text), isListed: isListed,
            at: now.instant
        )
        let new = fleet.scopes[id]
        effects.isInfoChanged = effects.isInfoChanged || (old == .elsewhere) != (new == .elsewhere)
        switch new {
        case .undecided: break
        case .elsewhere:
            guard isChanged else { break }
            fleet.peers.expectProof(of: id)
            tags[position].tell(.takenOver, at: now, &effects.narrowing)
            effects.narrowing.add(.withhold(allTopics(of: position)))
        case .presence:
            guard isChanged else { break }
            let presence = presenceTopics(of: position)
            effects.narrowing.add(.withhold(allTopics(of: position).filter { !presence.contains($0) }))
            effects.widening.add(.republish(presence))
        case nil:
            // Another bridge may have published facts meanwhile.
            if isChanged || (isConnected && isListed) { effects.widening.add(republication(of: position)) }
        }
    }

    /// Publishes the facts of a tag again. Values that are unknown here don't replace those of another bridge.
    private mutating func republication(of position: Int) -> BridgeAction {
        let id = tags[position].entry.id
        let unknown = fleet.peers.lists(id) ? tags[position].unknownTopics : []
        fleet.scopes.setIncomplete(id, !unknown.isEmpty)
        return .republish(allTopics(of: position).filter { !unknown.contains($0) })
    }

    /// Publishes facts of a tag that were unknown, and are known now.
    mutating func completeFacts(of position: Int, _ effects: inout Effects) {
        guard fleet.scopes.isIncomplete(tags[position].entry.id), tags[position].isConnected else { return }
        effects.add(republication(of: position))
    }

    /// All topics of a tag that another bridge may publish, too.
    mutating func allTopics(of position: Int) -> [String] {
        tags[position].retainedTopics + discoveryTopics(of: tags[position].entry.id)
    }

    private func presenceTopics(of position: Int) -> [String] {
        [tags[position].topics[.availability], tags[position].topics[.connection]]
    }

    mutating func discoveryTopics(of id: TagID) -> [String] {
        homeAssistant.discovery?.topics(ofTag: id.text) ?? []
    }

    /// The tags whose facts are left to other bridges; nil if there are none.
    var tagsElsewhere: [String]? {
        guard fleet.scopes.hasAny else { return nil }
        let ids = tags.map(\.entry.id).filter { fleet.scopes[$0] == .elsewhere }.map(\.text)
        return ids.isEmpty ? nil : ids
    }
}

// MARK: Events

extension BridgeState {
    /// Withholds the facts of unconnected tags until it is known whether other bridges are connected to them.
    mutating func scopesUndecided(at now: Timestamp, _ effects: inout Effects) {
        let positions = tags.indices.filter { !tags[$0].isConnected }
        fleet.scopes.brokerConnected(unconnected: positions.map { tags[$0].entry.id }, at: now.instant)
        let topics = positions.flatMap { position in
            let id = tags[position].entry.id
            // Discovery begins later, unless this is not the first connection.
            return fleet.peers.lists(id) ? allTopics(of: position) : tags[position].retainedTopics
        }
        if !topics.isEmpty { effects.add(.withhold(topics)) }
    }

    /// Handles the retained `info` of a known tag.
    mutating func received(info: [UInt8], ofTag position: Int) {
        let id = tags[position].entry.id
        guard fleet.scopes[id] == .undecided, info.count <= PeerBridges.longestInfo,
            let bridge = JSONValue(parsing: info)?["bridge"]?.string, bridge != configuration.instance,
            !leftovers.former.isFormerName(bridge)
        else { return }
        fleet.scopes.isAuthoredElsewhere(id)
    }

    /// Handles the end of the retained messages.
    mutating func retainedMessagesEnded(at now: Timestamp, _ effects: inout Effects) {
        if fleet.scopes.endCollection() { rescopeAll(at: now, &effects) }
        takeBackCommands(at: now, &effects)
    }

    /// Handles a message of another bridge.
    mutating func peerChanged(_ change: PeerBridges.Change, at now: Timestamp, _ effects: inout Effects) {
        scopesChanged(change, at: now, &effects)
        takeBackCommands(at: now, &effects)
    }

    private mutating func scopesChanged(_ change: PeerBridges.Change, at now: Timestamp, _ effects: inout Effects) {
        // After the decision to stop, everything is published.
        let positions = run.shutdown == nil ? change.tags.compactMap(tags.position) : []
        guard !positions.isEmpty else { return }
        rescoped(positions.filter { !tags[$0].isConnected }, at: now, &effects)
        let unconnected = positions.filter { !tags[$0].isConnected }
        if change.isGone {
            // It may have published that the tag is connected, and died before it could publish more.
            for position in unconnected where [nil, .presence].contains(fleet.scopes[tags[position].entry.id]) {
                effects.add(.republish(presenceTopics(of: position)))
            }
        }
        let removed = Set(change.removed)
        // It has left its commands to this bridge.
        if tags.contains(where: { removed.contains($0.entry.id) }) {
            pendingCommands.proof.force(until: now.instant + LeftCommands.lifetime)
        }
        for position in unconnected where removed.contains(tags[position].entry.id) {
            if fleet.scopes[tags[position].entry.id] == nil { effects.add(republication(of: position)) }
        }
        // It may have published facts before it received that this bridge is connected to the tag.
        let crossed = Set(change.isGone ? change.tags : change.yielded)
        let connected = positions.filter { tags[$0].isConnected }.map { tags[$0].entry.id }.filter(crossed.contains)
        correct(fleet.scopes.correct(connected, at: now.instant), &effects)
    }

    /// Handles elapsed time.
    mutating func scopesDue(at now: Timestamp, _ effects: inout Effects) {
        if fleet.scopes.endCollection(dueAt: now.instant) { rescopeAll(at: now, &effects) }
        if fleet.scopes.takeProofDue(at: now.instant) {
            rescoped(fleet.peers.doubtUnconfirmed().compactMap(tags.position), at: now, &effects)
        }
        for bridge in pendingCommands.left.takeDoubts(at: now.instant) {
            rescoped(fleet.peers.doubt(bridge).compactMap(tags.position), at: now, &effects)
        }
        fleet.peers.deadlineReached(at: now.instant)
        takeBackCommands(at: now, &effects)
        proofDue(at: now, &effects)
        correct(fleet.scopes.takeCorrectionsDue(at: now.instant), &effects)
    }

    /// Publishes that this bridge lives, after results that other bridges have left to it.
    private mutating func proofDue(at now: Timestamp, _ effects: inout Effects) {
        guard pendingCommands.proof.takeDue(at: now.instant) else { return }
        let isForced = pendingCommands.proof.isForced(at: now.instant)
        if isForced || tags.contains(where: { fleet.peers.isKnown($0.entry.id) }) { effects.publish(infoFact.reminder) }
    }

    /// Publishes the facts of connected tags again, and that this bridge lives.
    private mutating func correct(_ ids: [TagID], _ effects: inout Effects) {
        let positions = ids.compactMap(tags.position).filter { tags[$0].isConnected }
        guard !positions.isEmpty else { return }
        effects.publish(infoFact.reminder)
        for position in positions { effects.add(republication(of: position)) }
    }
}

// MARK: Commands that are left to other bridges

extension BridgeState {
    /// Drops the pending commands of tags to which another bridge is connected. That bridge executes them, except those to
    /// a group that it does not have, those that it has ignored because the tag was connected here, and those that it has
    /// not received or has refused.
    mutating func dropCommands(
        ofTagsAt bridge: ExactText, _ change: PeerBridges.Change, at now: Timestamp, _ effects: inout Effects
    ) {
        for command in pendingCommands.removeAnswered(in: change.refused) {
            guard case .tag(let id, let request) = command.work, let position = tags.position(of: id) else { continue }
            for requester in command.requesters {
                pendingCommands.traces.ended(requester.trace, .elsewhere, at: now.instant)
            }
            request.failed(on: &tags[position], nil, at: now)
            tags[position].settle(at: now, &effects)
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
                    failed(command, failure, at: now, &effects)
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
        let isConnected = fleet.peers.isConnected(bridge, to: tag)
        let isProven = isConnected || fleet.peers.isProven(bridge)
        let end = isConnected ? now.instant : end ?? now.instant
        let command = LeftCommand(
            work: work, tag: ExactText(tag), bridge: bridge, requesters: requesters, reachableUntil: instant,
            endsAt: end,
            doubtAt: isProven ? nil : end + LeftCommands.proof, awaitsReturn: !fleet.peers.isResponding(bridge))
        pendingCommands.left.add(command, at: now.instant)
    }

    /// Keeps a command to a tag that no bridge knows, if the first bridge by name responds and this one is the next.
    mutating func leaveUnknown(
        _ address: CommandAddress, _ message: MQTTMessage, as member: GroupMember?, at now: Timestamp
    ) {
        guard run.shutdown == nil, let tag = address.tag, let other = fleet.peers.responder(forUnknown: tag, as: member)
        else {
            return
        }
        let responseTopic = try? message.responseTopic(protecting: protectedTopics)
        let payload = Result { () throws(CommandFailure) in try CommandPayload(message.payload) }
        let id = CommandEnvelope.id(of: payload, message.payload)
        let requester = Requester(
            address, message, responseTopic, id: id, isReading: TagRequestTable.isSharedReading(address.name),
            member: member, at: now)
        leave(
            .unknownTag(message.isRetained ? .retained : unknownTag(tag)), of: tag, to: other, [requester],
            until: now.instant, at: now)
    }

    /// Takes back the commands that were left to bridges that seem to have died, or no longer know the tag.
    mutating func takeBackCommands(at now: Timestamp, _ effects: inout Effects) {
        // Other bridges take over from one that stops.
        guard run.shutdown == nil else { return }
        for command in pendingCommands.left.take(at: now.instant, fleet.peers.standing) {
            takeBack(command, at: now, &effects)
        }
    }

    private mutating func takeBack(_ command: LeftCommand, at now: Timestamp, _ effects: inout Effects) {
        let member = command.requesters.first?.member
        let unaware = (command.requesters.first?.unaware ?? []).union([command.bridge])
        let position = TagID(command.tag.text).flatMap(tags.position)
        let isConnected = position.map { tags[$0].isConnected } ?? false
        let other =
            isConnected ? nil : fleet.peers.finalResponder(forKnown: command.tag.text, as: member, besides: unaware)
        if let other {
            return leave(
                command.work, of: command.tag.text, to: other, command.requesters, until: command.reachableUntil,
                endingAt: command.endsAt, at: now)
        }
        for requester in command.requesters {
            if case .execution(let request) = command.work {
                execute(request, of: position, requester, until: command.reachableUntil, at: now, &effects)
            } else {
                pendingCommands.publish(command, of: requester, at: now, &effects)
            }
        }
    }

    /// Executes a command that has been left to another bridge.
    private mutating func execute(
        _ request: any TagRequest, of position: Int?, _ requester: Requester, until instant: Instant,
        at now: Timestamp, _ effects: inout Effects
    ) {
        if pendingCommands.storedResult(for: requester, at: now, &effects) != nil { return }
        do throws(CommandFailure) {
            guard let position else { throw CommandFailure.forgottenBeforeSending }
            let isInTime = now.instant < instant || type(of: request).ignoresHold
            guard isInTime, !isConnectedElsewhere(position) else {
                throw offlineFailure(of: position, at: now)
            }
            if try pendingCommands.join(requester) { return }
            try begin(
                request, of: position, requester, within: max(.zero, instant - now.instant), at: now, &effects)
        } catch {
            pendingCommands.fail(requester, error, at: now, &effects)
        }
    }
}

// MARK: Beats

extension BridgeState {
    /// The filters of all received beats.
    var beatFilters: [String] { fleet.watch.map { beatTopics($0.sources) } ?? [] }

    mutating func brokerDisconnected(at now: Timestamp, _ effects: inout Effects) {
        if run.isLeavingBroker {
            // What was known of bridges there, and was to be cleared there, is not true of the next broker.
            (run.isLeavingBroker, leftovers.departed) = (false, [])
            fleet.left(configuration.instance)
        }
        fleet.watch?.brokerDisconnected(at: now.instant)
        diagnostics.log.end(&effects)
    }

    /// Handles a beat of this bridge or another one.
    mutating func beat(of name: String, _ message: MQTTMessage, at now: Timestamp, _ effects: inout Effects) {
        guard !message.isRetained else { return }
        let name = ExactText(name)
        passToWatch(at: now, &effects) {
            $0.received(beatOf: name, message.payload, isOnline: $1.isInRing(name), at: now.instant, &$2)
        }
    }

    mutating func beatsDue(at now: Timestamp, _ effects: inout Effects) {
        passToWatch(at: now, &effects) { watch, _, decided in watch.deadlineReached(at: now.instant, &decided) }
    }

    /// Handles a change of another bridge: watches the next bridges by name.
    mutating func ringChanged(at now: Timestamp, _ effects: inout Effects) {
        guard fleet.peers.takeRingChange() else { return }
        passToWatch(at: now, &effects) {
            $0.ringChanged(
                to: $1.ring(of: FleetWatch.ringSize), isOnline: $1.isInRing, at: now.instant, &$2)
        }
    }

    /// Begins or ends the watch after a change of the configuration.
    mutating func watchChanged(isBrokerConnected: Bool, at now: Timestamp, _ effects: inout Effects) {
        guard configuration.options.watchesFleet != (fleet.watch != nil) else { return }
        if fleet.watch != nil {
            effects.add(.unsubscribe(beatFilters))
            fleet.watch = nil
        } else {
            var new = FleetWatch(instance: configuration.instance)
            if isBrokerConnected { new.brokerConnected(at: now.instant) }
            // The subscriptions follow for all sources at once.
            var ignored: [FleetWatch.Effect] = []
            let ring = fleet.peers.ring(of: FleetWatch.ringSize)
            new.ringChanged(to: ring, isOnline: fleet.peers.isInRing, at: now.instant, &ignored)
            fleet.watch = new
            effects.add(.subscribe(beatFilters))
        }
        effects.publish(infoFact)
    }

    /// Passes an event to the watch of other bridges; nothing without one.
    private mutating func passToWatch(
        at now: Timestamp, _ effects: inout Effects,
        _ event: (inout FleetWatch, PeerBridges, inout [FleetWatch.Effect]) -> Void
    ) {
        var decided: [FleetWatch.Effect] = []
        guard var changed = fleet.watch.take() else { return }
        event(&changed, fleet.peers, &decided)
        fleet.watch = changed
        for effect in decided {
            switch effect {
            case .beat(let number): effects.publish(beat(number))
            case .subscribe(let names): effects.add(.subscribe(beatTopics(names)))
            case .unsubscribe(let names): effects.add(.unsubscribe(beatTopics(names)))
            case .silent(let name): silent(name, at: now, &effects)
            case .refresh(let name): effects.publish(refreshRequest(to: name))
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
    private mutating func silent(_ name: ExactText, at now: Timestamp, _ effects: inout Effects) {
        let facts = fleet.peers.tags(ofSilent: name).map { id in
            // A tag of both bridges.
            if let position = tags.position(of: id) { return tags[position].availabilityFact.reminder }
            return correction(topics.tag(id)[.availability])
        }
        let state = BridgeTopics(base: topics.base, instance: name.text).state
        let change = fleet.peers.received(state: Array("offline".utf8), of: name.text, isSilent: true, at: now.instant)
        peerChanged(change, at: now, &effects)
        effects.publish(facts)
        effects.publish(correction(state))
        let text = "No beat of the bridge \(name.text) for \(FleetWatch.patience.components.seconds) s"
        effects.publish(event(.bridgeSilent, text: text, at: now))
        ringChanged(at: now, &effects)
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
    var overwrittenFacts: [Publication] { presenceFacts + (fleet.watch == nil ? [] : tags.map(\.availabilityFact)) }

    /// The state of the bridge, and for other bridges its tags: they forget what it was connected to when it is offline.
    var presenceFacts: [Publication] { [stateFact] + (fleet.peers.isEmpty ? [] : [infoFact]) }

    /// Publishes all facts, even if the broker has them.
    func publishAllAgain(at now: Timestamp, _ effects: inout Effects) {
        effects.remind { effects in
            publishBridge(at: now, &effects)
            for tag in tags { tag.publishAll(at: now, &effects) }
        }
    }
}
