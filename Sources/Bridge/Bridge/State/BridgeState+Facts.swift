import HomeAssistant
import JSON
import JacquardProtocol
import MQTTTypes
import Time

// MARK: Bluetooth and the broker

extension BridgeState {
    /// Requests the connections again, because their state reflects it while Bluetooth is off.
    mutating func bluetoothChanged(to state: AdapterFacts.State, at now: Timestamp) -> [BridgeAction] {
        stack.bluetoothChanged(to: state)
        let ended = state == .poweredOn ? [] : scanEnded(because: "Bluetooth is \(state.text)", at: now)
        if state != .poweredOn { seen.removeAll() }
        for position in tags.indices { tags[position].link.bluetoothChanged(isOutOfService: stack.isOutOfService) }
        let event: Presence.Event = stack.isOutOfService ? .adapterOff : .adapterOn
        let presence = tags.indices.flatMap { tags[$0].presenceChanged(event, at: now) }
        return publish(ended + presence) + settleAll(at: now) + beginWaitingRequests(at: now)
    }

    /// Publishes the problem, and the hints of connections whose errors follow from it.
    mutating func bluetoothFaultChanged(to cause: Cause?, at now: Timestamp) -> [BridgeAction] {
        guard cause != stack.fault else { return [] }
        stack.faultChanged(to: cause)
        for position in tags.indices { tags[position].link.bluetoothFault = cause }
        let explained = tags.filter { !$0.isConnected && $0.link.intent.isWanted }.map { $0.connectionFact(at: now) }
        return publish(healthChanged(at: now), explained)
    }

    mutating func adaptersChanged(to list: [AdapterFacts], at now: Timestamp) -> [BridgeAction] {
        let problemsBefore = Problem.problems(of: stack)
        let (lost, back) = stack.adaptersChanged(to: list)
        // The list changes with each connection: looking at all tags each time would be slow.
        let health = Problem.problems(of: stack) == problemsBefore ? [] : healthChanged(at: now)
        let events =
            lost.map { id, state in
                event(.adapterLost, adapter: id, text: "Bluetooth adapter \(id) is \(state)", at: now)
            } + back.map { event(.adapterBack, adapter: $0, at: now) }
        return publish([adapterFact] + events + health)
    }

    /// Handles the version of the MQTT protocol and the node of a new connection; nil: the broker has one address.
    mutating func brokerProtocol(_ version: Int, _ node: String?, at now: Timestamp) -> [BridgeAction] {
        if node == nil { stateReminders.stop() } else { stateReminders.start(at: now.instant) }
        return publish(versionChanged { ($0.protocolVersion, $0.brokerNode) = (version, node) })
    }

    /// Handles a will that has overwritten the bridge's state.
    mutating func stateOverwritten(at now: Timestamp) -> [BridgeAction] {
        if stack.brokerNode != nil { stateReminders.start(at: now.instant) }
        return publish(overwrittenFacts.map(\.reminder))
    }

    /// Handles a changed version of the Bluetooth stack or the MQTT protocol.
    mutating func versionChanged(_ change: (inout StackFacts) -> Void) -> [Publication] {
        change(&stack)
        return [infoFact]
    }
}

// MARK: The broker and the configuration

extension BridgeState {
    /// Handles a change of the connection to the broker. The first connection is not the end of an outage, and without one
    /// there is nothing to lose.
    mutating func brokerChanged(isConnected: Bool, at now: Timestamp) -> [BridgeAction] {
        guard isConnected != isBrokerConnected else { return [] }
        pendingCommands.isBrokerConnected = isConnected
        let isFirst = isBrokerConnected == nil
        if isConnected || !isFirst { isBrokerConnected = isConnected }
        guard !isFirst else { return [] }
        return perform(reactions.occurred(.broker(isConnected: isConnected), by: nil, of: tags, at: now), at: now)
    }

    mutating func sessionLost(at now: Timestamp) -> [BridgeAction] {
        peers.sessionLost(at: now.instant)
        return []
    }

    mutating func brokerConnected(at now: Timestamp) -> [BridgeAction] {
        discovery?.life.brokerConnected(at: now.instant.sinceBoot)
        former.brokerConnected(at: now.instant)
        peers.brokerConnected(at: now.instant)
        watch?.brokerConnected(at: now.instant)
        retainedCommands = []
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
        let finds = tags.indices.flatMap { tags[$0].setDiscovered(isOn) }
        guard isOn else {
            guard let old else { return publish(finds) }
            let left = tags.flatMap { $0.leftTopics + ($0.find.isShown ? [] : [$0.topics[FindFact.topic]]) }
            departures.append(.features, retainedTopics: topics.ofHomeAssistant + left, at: now.instant)
            return publish(old.documents.withdrawal(ofBridgeAndTags: ids).map(Publication.init) + finds)
        }
        discovery?.setTags(ids)
        if let old { discovery?.takeOver(from: old, tags: tags.map { DiscoveredTag($0) }) }
        if isBrokerConnected { discovery?.life.brokerConnected(at: now.instant.sinceBoot) }
        let withheld = tags.indices.filter { scopes[tags[$0].entry.id] != nil }
        let topics = withheld.map { [tags[$0].topics[FindFact.topic]] + discoveryTopics(of: tags[$0].entry.id) }
        return topics.map(BridgeAction.withhold)
            + [.subscribe(discovery?.life.filters ?? [])] + publish(pairingFact + foundFacts() + finds)
    }
}

// MARK: Scanning and pairing

extension BridgeState {
    /// Handles an event of the requested scan.
    mutating func scanChanged(_ scanEvent: ScanState.Event, at now: Timestamp) -> [Publication] {
        switch scan.handle(scanEvent, at: now) {
        case .none: return []
        case .prolonged: return [scanFact]
        case .started:
            found.begin(at: now)
            return [scanFact] + foundFacts() + [event(.scanStarted, at: now)]
        // Every stop request publishes an event, even if no scan was running.
        case .stopped(let wasScanning):
            return (wasScanning ? [scanFact] + foundFact : []) + [event(.scanStopped, text: "requested", at: now)]
        }
    }

    /// Ends the scan without a request. If a user has requested the end too, that request publishes the event.
    mutating func scanEnded(because reason: String, at now: Timestamp) -> [Publication] {
        guard scan.end() else { return [] }
        return [scanFact] + foundFact + (scan.isStopRequested ? [] : [event(.scanStopped, text: reason, at: now)])
    }

    /// Ends the scan once its duration has passed.
    mutating func endScanInTime(at now: Timestamp) -> [BridgeAction] {
        guard let until = scan.until, until.instant <= now.instant else { return [] }
        let publications = scanEnded(because: "the duration has passed", at: now)
        return [.stopScan(token: pendingCommands.unusedToken())] + publish(publications)
    }

    /// Begins a pairing, or the check of a bond. The tag may be unknown until it is paired.
    mutating func pair(
        _ entry: TagEntry, within limit: Duration, radio: String?, isCheck: Bool, token: UInt64, at now: Timestamp
    ) -> [BridgeAction] {
        let tag = handle(of: entry.id) ?? tags.newHandle()
        let began = isCheck ? [] : pairingChanged(.began(entry, tag), at: now)
        return publish(began) + [
            .pair(tag, serial: entry.serial, timeout: limit, radio: radio, isCheck: isCheck, token: token)
        ]
    }

    /// Handles a stage of a pairing; ignored for a tag that is not being paired.
    mutating func pairingReached(_ stage: PairingStage, of tag: TagHandle, at now: Timestamp) -> [BridgeAction] {
        guard let serial = pairing.serial(of: tag) else { return [] }
        return publish(pairingChanged(.reached(stage, serial: serial), at: now))
    }

    /// Handles an event of a pairing of a request.
    mutating func pairingRequested(_ event: PairingProgress.Event, at now: Timestamp) -> [BridgeAction] {
        var removal: [BridgeAction] = []
        if case .failed(let entry, _) = event, let tag = pairing.tag(entry.serial), tags.position(of: tag) == nil {
            removal = [.removeTag(tag)]
        }
        return publish(pairingChanged(event, at: now)) + removal
    }

    /// Handles an event of a pairing.
    mutating func pairingChanged(_ pairingEvent: PairingProgress.Event, at now: Timestamp) -> [Publication] {
        guard pairing.handle(pairingEvent, at: now) else { return [] }
        let event: Publication? =
            switch pairingEvent {
            case .began(let entry, _): event(.pairStarted, id: entry.id, serial: entry.serial, at: now)
            case .reached(.found(let address), let serial): event(.pairFound, serial: serial, address: address, at: now)
            case .reached(.pairing, let serial): event(.pairPairing, serial: serial, at: now)
            case .reached(.connecting, let serial): event(.pairConnecting, serial: serial, at: now)
            case .succeeded(let entry, let address):
                event(.paired, id: entry.id, serial: entry.serial, address: address, at: now)
            case .failed(let entry, let failure):
                event(.pairFailed, id: entry.id, serial: entry.serial, text: failure.text, at: now)
            case .requestSerial, .refused, .stopped: nil
            }
        return (event.map { [$0] } ?? []) + pairingFact
    }

    /// Handles a new bond. The tag's facts follow the event, and the states of pairing and scan follow them.
    mutating func paired(_ entry: TagEntry, _ sighting: TagSighting, at now: Timestamp) -> [BridgeAction] {
        let address = sighting.address ?? ""
        let event = event(.paired, id: entry.id, serial: entry.serial, address: address, at: now)
        let actions = addPaired(entry, sighting, at: now)
        _ = pairing.handle(.succeeded(entry, address: address), at: now)
        return publish([event]) + actions + publish(pairingFact + foundFacts())
    }
}

// MARK: Health

extension BridgeState {
    mutating func measured(_ measurement: HealthMeasurement, at now: Timestamp) -> [BridgeAction] {
        health.measured(measurement, at: now.instant)
        let isContested = contest.minutePassed(at: now.instant)
        _ = healthChanged(at: now)
        // Reported once a minute: soon enough to correct forecasts and traces after the time of day was set.
        traceClock = traceClock.checked(at: now)
        let forecasts = tags.indices.flatMap { tags[$0].clockChecked(at: now) }
        return publish([healthFact(at: now)] + (isContested ? [infoFact.reminder] : []) + forecasts)
    }

    /// Handles the document of this bridge, or of another one with its instance name.
    mutating func ownInfoReceived(_ info: [UInt8], at now: Timestamp) -> [BridgeAction] {
        guard shutdown == nil, info.count <= PeerBridges.longestInfo,
            let other = JSONValue(parsing: info)?["boot"]?.string
        else { return [] }
        let isDue = contest.received(isOwn: other == boot, at: now.instant)
        return other == boot ? [] : publish((isDue ? [infoFact.reminder] : []) + healthChanged(at: now))
    }

    /// Handles that the broker has ended the connection because of another client with this identifier.
    mutating func identifierTaken(at now: Timestamp) -> [BridgeAction] {
        contest.takenOver(at: now.instant)
        return publish(healthChanged(at: now))
    }

    /// Whether another client uses the bridge's client identifier or instance name.
    public func isNameContested(at now: Timestamp) -> Bool { contest.isOngoing(at: now.instant) }

    /// The cause of ``isNameContested(at:)``.
    var contestCause: Cause {
        .identifierInUse(
            clientID: configuration.clientID, instance: configuration.instance, isBridge: contest.isBridge)
    }

    /// Handles an event that affects only the bridge's health.
    mutating func healthEvent(at now: Timestamp, _ change: (inout HealthMonitor) -> Void) -> [BridgeAction] {
        change(&health)
        return publish(healthChanged(at: now))
    }

    mutating func lost(_ losses: Outbox.Losses, bytes: [String: Int], at now: Timestamp) -> [BridgeAction] {
        health.lost(losses, bytes: bytes, at: now.instant)
        let stats = tags.indices.flatMap { index in
            losses.events[tags[index].topics.gesture].map { tags[index].gesturesExpired($0, at: now) } ?? []
        }
        return publish(stats + healthChanged(at: now))
    }

    /// Publishes the health document if the problems have changed.
    mutating func healthChanged(at now: Timestamp) -> [Publication] {
        var problems = Problem.problems(of: stack) + tags.flatMap(\.problems)
        problems += health.problems(at: now, discovery: configuration.deviceFormPrefix) { tags.contains(serial: $0) }
        problems += takenIDs.problems(tags) + deletedInHomeAssistant
        if contest.isOngoing(at: now.instant) { problems.append(Problem(contestCause)) }
        for serial in seen.duplicateSerials(at: now) where tags.contains(serial: serial) {
            if !tags.isShared(serial: serial) { problems.append(.duplicate(serial)) }
        }
        return health.found(problems, at: now) ? [healthFact(at: now)] : []
    }
}

// MARK: Publications

extension BridgeState {
    /// Returns all facts about the bridge itself; its state comes first.
    func bridgeFacts(at now: Timestamp) -> [Publication] {
        [stateFact, infoFact, healthFact(at: now), adapterFact, scanFact, connectedTagsFact]
            + pairingFact + foundFact
    }

    var stateFact: Publication { .fact(topics.state, word: "online") }

    var infoFact: Publication {
        .fact(
            topics.info,
            BridgeInfoDocument(
                version: configuration.version,
                instance: configuration.instance,
                started: startedAt.text,
                boot: boot,
                bluez: stack.bluezVersion,
                mqtt: stack.protocolVersion,
                node: stack.brokerNode,
                tags: tags.map(\.entry.id.text),
                connected: tags.filter(\.isConnected).map(\.entry.id.text), elsewhere: tagsElsewhere,
                refused: refusedCommands, session: peers.missed == nil ? nil : peers.session,
                missedMilliseconds: peers.missed?.milliseconds, groups: groups.document,
                watch: watch == nil ? nil : true))
    }

    var adapterFact: Publication { .fact(topics.adapter, (stack.adapters ?? []).map(AdapterDocument.init)) }

    var scanFact: Publication { .fact(topics.scan, ScanDocument(scan)) }

    func healthFact(at now: Timestamp) -> Publication { .fact(topics.health, healthDocument(at: now)) }

    /// Returns the document of `G/health`.
    func healthDocument(at now: Timestamp) -> HealthDocument { health.document(startedAt: startedAt, at: now) }

    /// `G/pairing`; published while discovery is on.
    var pairingFact: [Publication] {
        discovery == nil ? [] : [.fact(topics.pairing, PairingDocument(pairing))]
    }

    /// `G/found`; published while discovery is on.
    var foundFact: [Publication] {
        guard discovery != nil else { return [] }
        let document = FoundTagsDocument(found, isScanning: scan.isScanning) { tags.contains(serial: $0) }
        return [.fact(topics.found, document)]
    }

    /// Ends the display of a failed pairing.
    mutating func pairingDue(at now: Timestamp) -> [Publication] {
        pairing.deadlineReached(at: now) ? pairingFact : []
    }

    /// How long an event is queued while the broker is away.
    private static let eventLifetime = Duration.seconds(60)

    /// Returns the publication of an event on `G/event`.
    func event(
        _ type: EventDocument.Kind,
        id: TagID? = nil,
        serial: String? = nil,
        address: String? = nil,
        adapter: String? = nil,
        text: String? = nil,
        at now: Timestamp
    ) -> Publication {
        let document = EventDocument(
            type: type, id: id?.text, serial: serial, address: address, adapter: adapter, text: text,
            bridge: configuration.instance, time: now.text)
        return Publication(
            topic: topics.event, payload: JSONText.bytes(of: document), kind: .event(lifetime: Self.eventLifetime))
    }

    /// Returns all metrics in the text format of Prometheus. The Operations article explains each of them.
    ///
    /// - Parameters:
    ///   - measurement: the measurements of the process.
    ///   - now: the current time.
    /// - Returns: UTF-8 text that ends with a newline.
    public func metrics(_ measurement: HealthMeasurement, at now: Timestamp) -> String {
        BridgeMetrics(of: self, measurement, at: now).text
    }
}

// MARK: Home Assistant

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
        return (isAgain ? facts.map(\.reminder) : facts) + (isEnd ? changedStates : [])
    }

    /// The announcement of a tag after one of its facts has changed. The ``Outbox`` drops it if it is the same as before.
    mutating func discoveryFacts(ofTag position: Int) -> [Publication] {
        guard discovery?.life.hasAnnounced == true else { return [] }
        return discovery?.announcement(of: DiscoveredTag(tags[position])).map(Publication.init) ?? []
    }

    /// Receives a message of discovery.
    ///
    /// - Returns: nil if it is none.
    mutating func receivedDiscovery(_ message: MQTTMessage, at now: Timestamp) -> [BridgeAction]? {
        guard discovery != nil else { return nil }
        let before = discovery?.deletions
        let isDiscovery = discovery?.received(
            message.topic, message.payload, isRetained: message.isRetained, at: now.instant.sinceBoot)
        guard isDiscovery == true else { return nil }
        return before == discovery?.deletions ? [] : publish(healthChanged(at: now))
    }

    /// The problems of devices that a user has deleted in Home Assistant; none for tags that another bridge announces.
    private var deletedInHomeAssistant: [Problem] {
        guard let deletions = discovery?.deletions, deletions.ofBridge || !deletions.tags.isEmpty else { return [] }
        let deleted = tags.filter { deletions.tags.contains($0.entry.id.text) && scopes[$0.entry.id] == nil }
        return (deletions.ofBridge ? [Problem(.bridgeDeleted)] : [])
            + deleted.map { Problem(.deletedInHomeAssistant($0.entry), about: $0.entry.id.text) }
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

    /// The same after a tag was added; nothing if the latest scan has not found it.
    mutating func foundFacts(about serial: String) -> [Publication] { found.contains(serial) ? foundFacts() : [] }

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
            return announcements.postponesTouchModes() ? [] : changedStates
        case .repeatBridge:
            return (announcementOfBridge + bridgeFacts(at: now)).map(\.reminder)
        case .repeatTag(let position):
            guard tags.indices.contains(position) else { return [] }
            return
                (discoveryFacts(ofTag: position) + tags[position].allFacts(at: now)).map(\.reminder)
        }
    }

    /// The facts that Home Assistant has to evaluate again after an update of the bridge: its templates for them have changed.
    private var changedStates: [Publication] {
        tags.flatMap { [$0.touchModeFact] + $0.presenceFacts }.map(\.reminder)
    }

    private var announcementOfBridge: [Publication] {
        discovery?.documents.announcementOfBridge.map(Publication.init) ?? []
    }
}
