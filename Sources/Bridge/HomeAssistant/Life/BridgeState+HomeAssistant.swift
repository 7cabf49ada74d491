// MARK: What happens

extension BridgeState {
    /// There is a connection to the broker, and the subscriptions are made.
    public mutating func brokerConnected(at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        defer { updateDeadline() }
        discovery?.life.brokerConnected(at: now.instant)
        former.brokerConnected(at: now.instant)
        health.brokerConnected()
        return publish(healthChanged(at: now))
    }

    /// A message came that may be Home Assistant's, or an earlier run's.
    ///
    /// - Returns: whether it was.
    mutating func receivedForDiscovery(_ message: IncomingMessage, at now: Moment) -> Bool {
        guard discovery?.received(message, at: now.instant) == true else { return false }
        updateDeadline()
        return true
    }
}

// MARK: What is said

extension BridgeState {
    /// What Home Assistant is to be told because time has passed.
    mutating func discoveryDue(at now: Moment) -> [Publication] {
        guard let steps = discovery?.life.takeDue(at: now.instant), let discovery else { return [] }
        return steps.flatMap { publications(for: $0, of: discovery, at: now) }
    }

    /// How a tag is announced now, after what was announced of it may have changed; the ``Outbox`` drops what has not.
    func discoveryFacts(ofTag position: Int) -> [Publication] {
        guard let discovery, discovery.life.hasAnnounced else { return [] }
        return discovery.announcement(of: tags[position])
    }

    /// A tag is removed for good, and Home Assistant is to forget it.
    func discoveryWithdrawal(of tag: TagMirror) -> [Publication] {
        discovery?.withdrawal(of: tag) ?? []
    }

    /// How many tags are connected: a fact for Home Assistant, which does not count.
    var connectedTagsFact: [Publication] {
        guard discovery != nil else { return [] }
        return [.fact(topics.tags, ConnectedTagsDocument(tags))]
    }

    private func publications(
        for step: DiscoveryLife.Step, of discovery: HomeAssistantDiscovery, at now: Moment
    ) -> [Publication] {
        switch step {
        case .requestMigration(let topics):
            return topics.map { Publication(topic: $0, payload: DiscoveryText.migrationRequest, kind: .fact) }
        case .empty(let topics): return topics.map { .noFact($0) }
        case .announce(let again):
            let everything = discovery.announcementOfBridge + tags.flatMap { discovery.announcement(of: $0) }
            return again ? everything.map(\.reminder) : everything
        case .remindOfOptions: return tags.map(\.touchModeFact.reminder)
        case .remindOfBridge:
            return (discovery.announcementOfBridge + bridgeFacts(at: now)).map(\.reminder)
        case .remindOfTag(let position):
            // There may be fewer tags by now.
            guard tags.indices.contains(position) else { return [] }
            return (discovery.announcement(of: tags[position]) + tags[position].allFacts(at: now)).map(\.reminder)
        }
    }
}

/// `G/tags`.
struct ConnectedTagsDocument: Encodable {
    let connected: Int
    let known: Int

    init(_ tags: [TagMirror]) {
        connected = tags.count { $0.isConnected }
        known = tags.count
    }
}
