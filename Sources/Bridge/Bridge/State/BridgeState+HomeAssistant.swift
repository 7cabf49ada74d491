import HomeAssistant
import JacquardProtocol
import Time

// MARK: Events

extension BridgeState {
    mutating func sessionLost(at now: Timestamp) -> [BridgeAction] {
        peers.sessionLost(at: now.instant)
        return []
    }

    mutating func brokerConnected(at now: Timestamp) -> [BridgeAction] {
        discovery?.life.brokerConnected(at: now.instant.sinceBoot)
        former.brokerConnected(at: now.instant)
        peers.brokerConnected()
        watch?.brokerConnected(at: now.instant)
        let wereElsewhere = tagsElsewhere != nil
        // With discovery, they are cleared after the announcement without their entities.
        let hasLeftTopics = discovery == nil && tags.contains { !$0.leftTopics.isEmpty }
        return scopesUndecided(at: now) + publish(wereElsewhere ? [infoFact] : [])
            + healthEvent(at: now) { $0.brokerConnected() } + (hasLeftTopics ? leftTopicsCleared() : [])
    }

    /// Applies changed settings. The list of configured tags is only stored.
    mutating func adopt(
        _ new: BridgeConfiguration, isBrokerConnected: Bool, at now: Timestamp
    ) -> [BridgeAction] {
        let old = configuration
        configuration = new
        pendingCommands.commandsPerTag = new.options.commandsPerTag
        for index in tags.indices { tags[index].link.offlineAfter = new.options.offlineAfter }
        commandSettings = TagRequestContext.Settings(new)
        if old.reflexes != new.reflexes { reactions.setReflexes(new.reflexes) }
        var actions = rawDataConfigured() + watchChanged(isBrokerConnected: isBrokerConnected, at: now)
        if old.groups != new.groups { actions += groupsChanged() }
        if old.options.chords != new.options.chords {
            actions += perform(reactions.setChords(new.options.chords, tags, at: now), at: now)
            actions += publish(tags.indices.flatMap { tags[$0].chordsChanged(to: new.options.chords) })
        }
        actions += featuresConfigured(old.options, at: now)
        if old.homeAssistant != new.homeAssistant {
            actions += discoveryChanged(isBrokerConnected: isBrokerConnected, at: now)
        } else if Vocabulary(old) != Vocabulary(new) {
            actions += publish(changedAnnouncements())
        }
        return actions
    }

    /// Migrates the discovery documents to another form or prefix, as after a restart, or removes them if discovery is
    /// off.
    private mutating func discoveryChanged(isBrokerConnected: Bool, at now: Timestamp) -> [BridgeAction] {
        let old = discovery
        let ids = tags.map(\.entry.id.text)
        discovery = HomeAssistantDiscovery(configuration, topics: topics)
        let isOn = discovery != nil
        let finds = tags.indices.flatMap { tags[$0].setDiscovered(isOn, at: now) }
        guard isOn else {
            guard let old else { return publish(finds) }
            let left = tags.flatMap { $0.leftTopics + ($0.find.isShown ? [] : [$0.topics[.find]]) }
            departures.append(.features, retainedTopics: topics.ofHomeAssistant + left, at: now.instant)
            return publish(finds + old.documents.withdrawal(ofBridgeAndTags: ids).map(Publication.init))
        }
        discovery?.setTags(ids)
        if let old { discovery?.takeOver(from: old, tags: ids) }
        if isBrokerConnected { discovery?.life.brokerConnected(at: now.instant.sinceBoot) }
        let withheld = tags.indices.filter { scopes[tags[$0].entry.id] != nil }
        let topics = withheld.map { [tags[$0].topics[.find]] + discoveryTopics(of: tags[$0].entry.id) }
        return topics.map(BridgeAction.withhold)
            + [.subscribe(discovery?.life.filters ?? [])] + publish(pairingFact + foundFacts() + finds)
    }
}

// MARK: Publications

extension BridgeState {
    /// Publications of discovery that are due.
    mutating func discoveryDue(at now: Timestamp) -> [Publication] {
        guard let actions = discovery?.life.takeDue(at: now.instant.sinceBoot) else { return [] }
        var due: [Publication] = []
        for action in actions { due += publications(for: action, at: now) }
        return due + announcementsDue(at: now)
    }

    /// The next announcements of tags.
    private mutating func announcementsDue(at now: Timestamp) -> [Publication] {
        let (ids, isAgain, isEnd) = announcements.takeDue(at: now.instant)
        let facts = ids.compactMap(tags.position).flatMap { position in
            discovery?.firstAnnouncement(of: DiscoveredTag(tags[position])).map(Publication.init) ?? []
        }
        if !ids.isEmpty, announcements.isComplete {
            let left = tags.flatMap(\.leftTopics)
            if !left.isEmpty { departures.append(.features, retainedTopics: left, at: now.instant) }
        }
        return (isAgain ? facts.map(\.reminder) : facts) + (isEnd ? tags.map(\.touchModeFact.reminder) : [])
    }

    /// The announcement of a tag after one of its facts has changed. The ``Outbox`` drops it if it is the same as before.
    mutating func discoveryFacts(ofTag position: Int) -> [Publication] {
        guard discovery?.life.hasAnnounced == true else { return [] }
        return discovery?.announcement(of: DiscoveredTag(tags[position])).map(Publication.init) ?? []
    }

    /// Announces all tags with changed entities, and removes those that no longer exist.
    private mutating func changedAnnouncements() -> [Publication] {
        guard let old = discovery?.documents else { return [] }
        discovery?.adopt(Vocabulary(configuration))
        guard let discovery, discovery.life.hasAnnounced else { return [] }
        return tags.flatMap {
            discovery.documents.announcement(of: DiscoveredTag($0), removing: old.components(ofTag: $0.entry.id.text))
        }
        .map(Publication.init)
    }

    /// Removes a tag from Home Assistant.
    func discoveryWithdrawal(of tag: TagMirror) -> [Publication] {
        discovery?.documents.withdrawal(ofTag: tag.entry.id.text).map(Publication.init) ?? []
    }

    /// `G/found`, and the announcement of the bridge if it lists other tags to pair.
    mutating func foundFacts() -> [Publication] {
        let found = found.documents { tags.contains(serial: $0) }.tags
        let serials = Set(found.filter { !$0.known }.map(\.serial)).sorted()
        return foundFact + (discovery?.setFound(serials).map(Publication.init) ?? [])
    }

    /// The number of connected tags.
    var connectedTagsFact: Publication { .fact(topics.tags, ConnectedTagsDocument(tags)) }

    private mutating func publications(for action: DiscoveryAction, at now: Timestamp) -> [Publication] {
        switch action {
        case .publish(let messages): return messages.map(Publication.init)
        case .announceAll(let again):
            announcements.begin(tags.map(\.entry.id), again: again, at: now.instant)
            let facts = announcementOfBridge
            return again ? facts.map(\.reminder) : facts
        case .repeatTouchModes:
            return announcements.postponesTouchModes() ? [] : tags.map(\.touchModeFact.reminder)
        case .repeatBridge:
            return (announcementOfBridge + bridgeFacts(at: now)).map(\.reminder)
        case .repeatTag(let position):
            guard tags.indices.contains(position) else { return [] }
            return
                (discoveryFacts(ofTag: position) + tags[position].allFacts(at: now)).map(\.reminder)
        }
    }

    private var announcementOfBridge: [Publication] {
        discovery?.documents.announcementOfBridge.map(Publication.init) ?? []
    }
}

extension Publication {
    /// A message of discovery.
    init(_ message: DiscoveryMessage) {
        self.init(topic: message.topic, payload: message.payload, kind: .fact)
    }
}

/// `G/tags`.
struct ConnectedTagsDocument: Encodable {
    let connected: Int
    let known: Int

    init(_ tags: TagTable) {
        connected = tags.count { $0.isConnected }
        known = tags.count
    }
}

// MARK: Input of HomeAssistant

extension HomeAssistantDiscovery {
    /// - Returns: nil if the configuration announces nothing.
    init?(_ configuration: BridgeConfiguration, topics: BridgeTopics) {
        guard let homeAssistant = configuration.homeAssistant else { return nil }
        self.init(homeAssistant, DiscoveredBridge(configuration, topics), Vocabulary(configuration))
    }

    /// For removing announcements of earlier runs, whether or not this one announces anything.
    init(withdrawing configuration: BridgeConfiguration, topics: BridgeTopics) {
        self.init(
            configuration.homeAssistant ?? HomeAssistantConfiguration(prefix: configuration.discoveryPrefix),
            DiscoveredBridge(configuration, topics), Vocabulary(configuration))
    }
}

extension DiscoveredBridge {
    fileprivate init(_ configuration: BridgeConfiguration, _ topics: BridgeTopics) {
        self.init(
            instance: configuration.instance, topic: topics.bridge, version: configuration.version,
            page: configuration.homeAssistant?.page)
    }
}

extension Vocabulary {
    fileprivate init(_ configuration: BridgeConfiguration) {
        self.init(
            gestures: Gesture.words,
            unknownGesture: GestureName.unknown.rawValue,
            chords: configuration.options.chords.map {
                DiscoveredChord(name: $0.name, tags: Set(($0.tags ?? []).map(\.text)))
            },
            touchModes: TouchMode.allCases.map(\.word)
                + (configuration.options.slide.idle == nil ? [] : [TouchModeSet.slideWord]),
            effects: LEDEffect.effects.map(\.word),
            pairingStates: PairingProgress.State.allCases.map(\.rawValue),
            presenceStates: configuration.options.presence.limit == nil ? [] : Presence.State.allCases.map(\.rawValue),
            slidePhases: configuration.options.slide.idle == nil
                ? [] : SlideMachine.Phase.allCases.filter { $0 != .move }.map(\.rawValue),
            hasRadios: !configuration.radios.isEmpty,
            hasButtons: configuration.homeAssistant?.hasButtons ?? false)
    }
}

extension DiscoveredTag {
    /// A tag under its configured name, otherwise its own, otherwise its id.
    fileprivate init(_ tag: TagMirror) {
        self.init(
            id: tag.entry.id.text, topic: tag.topics.tag,
            name: tag.entry.name ?? tag.sighting.name?.nonEmpty ?? "Jacquard \(tag.entry.id)",
            serial: tag.entry.serial, firmware: tag.component?.version?.description,
            hasMotion: tag.hasMotion)
    }
}
