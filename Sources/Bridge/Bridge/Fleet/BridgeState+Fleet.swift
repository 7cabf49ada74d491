import JacquardProtocol
import MQTTTypes
import Time

// MARK: Beats

extension BridgeState {
    /// The filters of all received beats.
    var beatFilters: [String] { watch.map { beatTopics($0.sources) } ?? [] }

    mutating func brokerDisconnected(at now: Timestamp) -> [BridgeAction] {
        watch?.brokerDisconnected(at: now.instant)
        peers.brokerDisconnected(at: now.instant)
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
        let change = peers.received(state: Array("offline".utf8), of: name.text, at: now.instant)
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
