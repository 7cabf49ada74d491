import HomeAssistant
import JSON
import JacquardProtocol
import MQTTTypes
import Time

// MARK: Bluetooth and the broker

extension BridgeState {
    /// Requests the connections again, because their state reflects it while Bluetooth is off.
    mutating func bluetoothChanged(to state: AdapterFacts.State, at now: Timestamp, _ effects: inout Effects) {
        stack.bluetoothChanged(to: state)
        if state != .poweredOn {
            scanEnded(because: "Bluetooth is \(state.text)", at: now, &effects)
            search.seen.removeAll()
        }
        for position in tags.indices
        where tags[position].link.bluetoothChanged(isOutOfService: stack.isOutOfService) {
            effects.publish(tags[position].connectionFact(at: now))
        }
        let event: Presence.Event = stack.isOutOfService ? .adapterOff : .adapterOn
        for position in tags.indices where tags[position].presenceChanged(event, at: now) {
            effects.publish(tags[position].presenceFacts)
        }
        settleAll(at: now, &effects)
        beginWaitingRequests(at: now, &effects)
    }

    /// Publishes the problem, and the hints of connections whose errors follow from it.
    mutating func bluetoothFaultChanged(to cause: Cause?, at now: Timestamp, _ effects: inout Effects) {
        guard cause != stack.fault else { return }
        stack.faultChanged(to: cause)
        for position in tags.indices { tags[position].link.bluetoothFault = cause }
        healthChanged(at: now, &effects)
        for tag in tags where !tag.isConnected && !tag.link.intent.staysDisconnected {
            effects.publish(tag.connectionFact(at: now))
        }
    }

    mutating func adaptersChanged(to list: [AdapterFacts], at now: Timestamp, _ effects: inout Effects) {
        let problemsBefore = stack.problems
        let (lost, back) = stack.adaptersChanged(to: list)
        effects.publish(adapterFact)
        for (id, state) in lost {
            effects.publish(event(.adapterLost, adapter: id, text: "Bluetooth adapter \(id) is \(state)", at: now))
        }
        for id in back { effects.publish(event(.adapterBack, adapter: id, at: now)) }
        // The list changes with each connection: looking at all tags each time would be slow.
        if stack.problems != problemsBefore { healthChanged(at: now, &effects) }
    }

    /// Handles the version of the MQTT protocol and the node of a new connection; nil: the broker has one address.
    mutating func brokerProtocol(_ version: Int, _ node: String?, at now: Timestamp, _ effects: inout Effects) {
        if node == nil { fleet.reminders.stop() } else { fleet.reminders.start(at: now.instant) }
        (stack.protocolVersion, stack.brokerNode) = (version, node)
        effects.publish(infoFact)
    }

    /// Handles a will that has overwritten the bridge's state.
    mutating func stateOverwritten(at now: Timestamp, _ effects: inout Effects) {
        if stack.brokerNode != nil { fleet.reminders.start(at: now.instant) }
        effects.publish(overwrittenFacts.map(\.reminder))
    }

    /// Handles a changed version of the Bluetooth stack.
    mutating func bluezVersionChanged(to version: String?, _ effects: inout Effects) {
        stack.bluezVersion = version
        effects.publish(infoFact)
    }
}

// MARK: The broker and the configuration

extension BridgeState {
    /// Handles a change of the connection to the broker. The first connection is not the end of an outage, and without one
    /// there is nothing to lose.
    mutating func brokerChanged(isConnected: Bool, at now: Timestamp, _ effects: inout Effects) {
        guard isConnected != run.isBrokerConnected else { return }
        pendingCommands.isBrokerConnected = isConnected
        let isFirst = run.isBrokerConnected == nil
        if isConnected || !isFirst { run.isBrokerConnected = isConnected }
        guard !isFirst else { return }
        react(at: now, &effects) { $0.occurred(.broker(isConnected: isConnected), by: nil, of: $1, at: now, &$2) }
    }

    mutating func brokerConnected(at now: Timestamp, _ effects: inout Effects) {
        homeAssistant.discovery?.life.brokerConnected(at: now.instant.sinceBoot)
        leftovers.former.brokerConnected(at: now.instant)
        fleet.peers.brokerConnected(at: now.instant)
        fleet.watch?.brokerConnected(at: now.instant)
        intake.brokerConnected()
        let wereElsewhere = tagsElsewhere != nil
        scopesUndecided(at: now, &effects)
        if wereElsewhere { effects.publish(infoFact) }
        healthEvent(at: now, &effects) { $0.brokerConnected() }
        // With discovery, they are cleared after the announcement without their entities.
        let hasLeftTopics = homeAssistant.discovery == nil && tags.contains { !$0.leftTopics.isEmpty }
        if hasLeftTopics { leftTopicsCleared(&effects) }
    }

    /// Applies changed settings. The list of configured tags is only stored.
    mutating func adopt(
        _ new: BridgeConfiguration, isBrokerConnected: Bool, at now: Timestamp, _ effects: inout Effects
    ) {
        let old = configuration
        configuration = new
        pendingCommands.commandsPerTag = new.options.commandsPerTag
        for index in tags.indices { tags[index].link.grace.length = new.options.offlineAfter }
        intake.settings = TagRequestContext.Settings(new.options)
        if old.reflexes != new.reflexes { reactions.setReflexes(new.reflexes) }
        watchChanged(isBrokerConnected: isBrokerConnected, at: now, &effects)
        if old.groups != new.groups { groupsChanged(&effects) }
        if old.options.chords != new.options.chords {
            react(at: now, &effects) { $0.setChords(new.options.chords, $1, at: now, &$2) }
            for position in tags.indices { tags[position].chordsChanged(to: new.options.chords, &effects) }
        }
        featuresConfigured(old.options, at: now, &effects)
        if old.homeAssistant != new.homeAssistant {
            discoveryChanged(isBrokerConnected: isBrokerConnected, at: now, &effects)
        } else if Vocabulary(old) != Vocabulary(new) {
            announceChanges(&effects)
        }
    }

    /// Migrates the discovery documents to another form or prefix, as after a restart, or removes them if discovery is
    /// off.
    private mutating func discoveryChanged(isBrokerConnected: Bool, at now: Timestamp, _ effects: inout Effects) {
        let old = homeAssistant.discovery
        let ids = tags.map(\.entry.id.text)
        homeAssistant.discovery = HomeAssistantDiscovery(configuration, topics: topics)
        let isOn = homeAssistant.discovery != nil
        var facts = Effects()
        for position in tags.indices { tags[position].tell(.announced(isOn), at: now, &facts) }
        guard isOn else {
            if let old {
                clearTopicsOfHomeAssistant(at: now)
                effects.publish(old.documents.withdrawal(ofBridgeAndTags: ids).map(Publication.init))
            }
            return effects.append(facts)
        }
        homeAssistant.discovery?.setTags(ids)
        if let old { homeAssistant.discovery?.takeOver(from: old, tags: tags.map { DiscoveredTag($0) }) }
        if isBrokerConnected { homeAssistant.discovery?.life.brokerConnected(at: now.instant.sinceBoot) }
        for position in tags.indices where fleet.scopes[tags[position].entry.id] != nil {
            let topics = discoveryTopics(of: tags[position].entry.id)
            let facts = tags[position].features.facts(tags[position].topics)
            effects.add(.withhold(facts.map(\.topic) + topics))
        }
        effects.add(.subscribe(homeAssistant.discovery?.life.filters ?? []))
        effects.publish(pairingFact)
        publishFound(&effects)
        effects.append(facts)
    }
}

// MARK: Scanning and pairing

extension BridgeState {
    /// Handles an event of the requested scan.
    mutating func scanChanged(_ scanEvent: ScanState.Event, at now: Timestamp, _ effects: inout Effects) {
        switch search.scan.handle(scanEvent, at: now) {
        case .none: break
        case .prolonged: effects.publish(scanFact)
        case .started:
            search.found.begin(at: now)
            effects.publish(scanFact)
            publishFound(&effects)
            effects.publish(event(.scanStarted, at: now))
        // Every stop request publishes an event, even if no scan was running.
        case .stopped(let wasScanning):
            if wasScanning {
                effects.publish(scanFact)
                effects.publish(foundFact)
            }
            effects.publish(event(.scanStopped, text: "requested", at: now))
        }
    }

    /// Ends the scan without a request. If a user has requested the end too, that request publishes the event.
    mutating func scanEnded(because reason: String, at now: Timestamp, _ effects: inout Effects) {
        guard search.scan.end() else { return }
        effects.publish(scanFact)
        effects.publish(foundFact)
        if !search.scan.isStopRequested { effects.publish(event(.scanStopped, text: reason, at: now)) }
    }

    /// Ends the scan once its duration has passed.
    mutating func endScanInTime(at now: Timestamp, _ effects: inout Effects) {
        guard let until = search.scan.until, until.instant <= now.instant else { return }
        effects.add(.stopScan(token: pendingCommands.unusedToken()))
        scanEnded(because: "the duration has passed", at: now, &effects)
    }

    /// Begins a pairing, or the check of a bond. The tag may be unknown until it is paired.
    mutating func pair(
        _ entry: TagEntry, within limit: Duration, radio: String?, isCheck: Bool, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) {
        let tag = handle(of: entry.id) ?? tags.newHandle()
        if !isCheck { pairingChanged(.began(entry, tag), at: now, &effects) }
        effects.add(
            .pair(tag, serial: entry.serial, timeout: limit, radio: radio, isCheck: isCheck, token: token))
    }

    /// Handles a stage of a pairing; ignored for a tag that is not being paired.
    mutating func pairingReached(
        _ stage: PairingStage, of tag: TagHandle, at now: Timestamp, _ effects: inout Effects
    ) {
        guard let serial = search.pairing.serial(of: tag) else { return }
        pairingChanged(.reached(stage, serial: serial), at: now, &effects)
    }

    /// Handles an event of a pairing of a request.
    mutating func pairingRequested(_ event: PairingProgress.Event, at now: Timestamp, _ effects: inout Effects) {
        var stranger: TagHandle?
        switch event {
        case .failed(let entry, _), .cancelled(let entry):
            stranger = search.pairing.tag(entry.serial).flatMap { tags.position(of: $0) == nil ? $0 : nil }
        default: break
        }
        pairingChanged(event, at: now, &effects)
        if let stranger { effects.add(.removeTag(stranger)) }
    }

    /// Handles an event of a pairing.
    mutating func pairingChanged(
        _ pairingEvent: PairingProgress.Event, at now: Timestamp, _ effects: inout Effects
    ) {
        guard search.pairing.handle(pairingEvent, at: now) else { return }
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
            case .cancelled(let entry):
                event(
                    .pairFailed, id: entry.id, serial: entry.serial, text: CommandFailure.cancelledByStop.text, at: now)
            case .requestSerial, .refused, .stopped: nil
            }
        if let event { effects.publish(event) }
        effects.publish(pairingFact)
    }

    /// Handles a new bond. The tag's facts follow the event, and the states of pairing and scan follow them.
    mutating func paired(_ entry: TagEntry, _ sighting: TagSighting, at now: Timestamp, _ effects: inout Effects) {
        let address = sighting.address ?? ""
        effects.publish(event(.paired, id: entry.id, serial: entry.serial, address: address, at: now))
        addPaired(entry, sighting, at: now, &effects)
        _ = search.pairing.handle(.succeeded(entry, address: address), at: now)
        effects.publish(pairingFact)
        publishFound(&effects)
    }
}

// MARK: Health

extension BridgeState {
    mutating func measured(_ measurement: HealthMeasurement, at now: Timestamp, _ effects: inout Effects) {
        diagnostics.health.measured(measurement, at: now.instant)
        let isContested = fleet.contest.minutePassed(at: now.instant)
        _ = updateHealth(at: now)
        effects.publish(healthFact(at: now))
        if isContested { effects.publish(infoFact.reminder) }
        // Reported once a minute: soon enough to correct forecasts and traces after the time of day was set.
        diagnostics.clock = diagnostics.clock.checked(at: now)
        for position in tags.indices { tags[position].clockChecked(at: now, &effects) }
    }

    /// Handles the document of this bridge, or of another one with its instance name.
    mutating func ownInfoReceived(_ info: [UInt8], at now: Timestamp, _ effects: inout Effects) {
        guard run.shutdown == nil, info.count <= PeerBridges.longestInfo,
            let other = JSONValue(parsing: info)?["boot"]?.string
        else { return }
        let isDue = fleet.contest.received(isOwn: other == run.boot, at: now.instant)
        guard other != run.boot else { return }
        if isDue { effects.publish(infoFact.reminder) }
        healthChanged(at: now, &effects)
    }

    /// Handles that the broker has ended the connection because of another client with this identifier.
    mutating func identifierTaken(at now: Timestamp, _ effects: inout Effects) {
        fleet.contest.takenOver(at: now.instant)
        healthChanged(at: now, &effects)
    }

    /// Whether another client uses the bridge's client identifier or instance name.
    public func isNameContested(at now: Timestamp) -> Bool { fleet.contest.isOngoing(at: now.instant) }

    /// The cause of ``isNameContested(at:)``.
    var contestCause: Cause {
        .identifierInUse(
            clientID: configuration.clientID, instance: configuration.instance, isBridge: fleet.contest.isBridge)
    }

    /// Handles an event that affects only the bridge's health.
    mutating func healthEvent(
        at now: Timestamp, _ effects: inout Effects, _ change: (inout HealthMonitor) -> Void
    ) {
        change(&diagnostics.health)
        healthChanged(at: now, &effects)
    }

    mutating func lost(
        _ losses: Outbox.Losses, bytes: [String: Int], at now: Timestamp, _ effects: inout Effects
    ) {
        diagnostics.health.lost(losses, bytes: bytes, at: now.instant)
        for index in tags.indices {
            guard let count = losses.events[tags[index].topics.gesture] else { continue }
            tags[index].gesturesExpired(count, at: now, &effects)
        }
        let topics = topics
        tags.countExpiredOfRemoved { losses.events[topics.tag($0).gesture] }
        healthChanged(at: now, &effects)
    }

    /// Publishes the health document if the problems have changed.
    mutating func healthChanged(at now: Timestamp, _ effects: inout Effects) {
        if updateHealth(at: now) { effects.publish(healthFact(at: now)) }
    }

    /// Looks for problems.
    ///
    /// - Returns: whether they have changed.
    mutating func updateHealth(at now: Timestamp) -> Bool {
        var problems = stack.problems + tags.flatMap(\.problems)
        problems += diagnostics.health.problems(at: now, discovery: configuration.deviceFormPrefix) {
            tags.contains(serial: $0)
        }
        problems += leftovers.takenIDs.problems(tags) + deletedInHomeAssistant
        if fleet.contest.isOngoing(at: now.instant) { problems.append(Problem(contestCause)) }
        for serial in search.seen.duplicateSerials(at: now) where tags.contains(serial: serial) {
            if !tags.isShared(serial: serial) { problems.append(.duplicate(serial)) }
        }
        return diagnostics.health.found(problems, at: now)
    }
}

// MARK: Publications

extension BridgeState {
    /// Publishes all facts about the bridge itself; its state comes first.
    func publishBridge(at now: Timestamp, _ effects: inout Effects) {
        for fact in [stateFact, infoFact, healthFact(at: now), adapterFact, scanFact, connectedTagsFact] {
            effects.publish(fact)
        }
        effects.publish(pairingFact)
        effects.publish(foundFact)
    }

    var stateFact: Publication { .fact(topics.state, word: "online") }

    var infoFact: Publication {
        .fact(topics.info) { object in
            object.add("bluez", stack.bluezVersion)
            object.add("boot", run.boot)
            // Commands to these tags are answered by this bridge only.
            object.add("connected", tags.indices.filter { tags[$0].isConnected }.map { tags[$0].entry.id.text })
            // The version of the MQTT contract.
            object.add("contract", 1)
            // The tags whose facts this bridge leaves to another one, which is connected to them.
            object.addIfPresent("elsewhere", tagsElsewhere)
            object.addIfPresent("groups", intake.groups.document)
            object.add("instance", configuration.instance)
            // The time from the last message of the session before until the connection: the bridge has missed its commands.
            object.addIfPresent("missed_ms", fleet.peers.missed?.milliseconds)
            object.add("mqtt", stack.protocolVersion)
            // The connected node of the broker; omitted if only one address is configured.
            object.addIfPresent("node", stack.brokerNode)
            object.addIfPresent("refused", refusedCommands)
            // The number of the session at the broker; omitted for the first.
            object.addIfPresent("session", fleet.peers.missed == nil ? nil : fleet.peers.session)
            object.add("started", run.startedAt)
            object.add("tags", tags.map(\.entry.id.text))
            object.add("version", configuration.version)
            // Whether the bridge publishes beats.
            object.addIfPresent("watch", fleet.watch == nil ? nil : true)
        }
    }

    var adapterFact: Publication {
        .fact(topics.adapter, (stack.adapters ?? []).map { AdapterDocument(adapter: $0) })
    }

    var scanFact: Publication { .fact(topics.scan, ScanDocument(scan: search.scan)) }

    func healthFact(at now: Timestamp) -> Publication { .fact(topics.health, healthDocument(at: now)) }

    /// Returns the document of `G/health`.
    func healthDocument(at now: Timestamp) -> HealthDocument {
        diagnostics.health.document(startedAt: run.startedAt, at: now)
    }

    /// `G/pairing`; published while discovery is on.
    var pairingFact: [Publication] {
        homeAssistant.discovery == nil ? [] : [.fact(topics.pairing, PairingDocument(progress: search.pairing))]
    }

    /// `G/found`; published while discovery is on.
    var foundFact: [Publication] {
        guard homeAssistant.discovery != nil else { return [] }
        let found = search.found.documents { tags.contains(serial: $0) }
        return [
            .fact(topics.found) { object in
                object.add("count", search.found.startedAt == nil ? nil : found.tags.count)
                object.add("more", found.isCut)
                object.add("scanning", search.scan.isScanning)
                object.add("started", search.found.startedAt)
                object.add("tags", found.tags)
            }
        ]
    }

    /// Ends the display of a failed pairing.
    mutating func pairingDue(at now: Timestamp, _ effects: inout Effects) {
        if search.pairing.deadlineReached(at: now) { effects.publish(pairingFact) }
    }

    /// How long an event is queued while the broker is away.
    private static let eventLifetime = Duration.seconds(60)

    /// Returns the publication of an event on `G/event`.
    func event(
        _ type: BridgeEventKind,
        id: TagID? = nil,
        serial: String? = nil,
        address: String? = nil,
        adapter: String? = nil,
        text: String? = nil,
        at now: Timestamp
    ) -> Publication {
        let payload = JSONText.objectBytes { object in
            object.add("adapter", adapter)
            object.add("address", address)
            object.add("bridge", configuration.instance)
            object.add("id", id?.text)
            object.add("serial", serial)
            object.add("text", text)
            object.add("time", now)
            object.add("type", type.rawValue)
        }
        return Publication(topic: topics.event, payload: payload, kind: .event(lifetime: Self.eventLifetime))
    }
}

// MARK: Home Assistant

extension BridgeState {
    /// Publications of discovery that are due.
    mutating func discoveryDue(at now: Timestamp, _ effects: inout Effects) {
        guard let actions = homeAssistant.discovery?.life.takeDue(at: now.instant.sinceBoot) else { return }
        for action in actions { perform(action, at: now, &effects) }
        announcementsDue(at: now, &effects)
    }

    /// The next announcements of tags.
    private mutating func announcementsDue(at now: Timestamp, _ effects: inout Effects) {
        let (ids, isAgain, isEnd) = homeAssistant.queue.takeDue(at: now.instant)
        for position in ids.compactMap(tags.position) {
            let isShared = fleet.peers.lists(tags[position].entry.id)
            let documents =
                homeAssistant.discovery?.firstAnnouncement(of: DiscoveredTag(tags[position]), isShared: isShared) ?? []
            let facts = documents.map(Publication.init)
            effects.publish(isAgain ? facts.map(\.reminder) : facts)
        }
        if !ids.isEmpty, homeAssistant.queue.isComplete {
            let left = tags.flatMap(\.leftTopics)
            if !left.isEmpty { leftovers.departures.append(.features, retainedTopics: left, at: now.instant) }
        }
        if isEnd { effects.publish(changedStates) }
    }

    /// Announces a tag after one of its facts has changed. The ``Outbox`` drops the announcement if it is the same as before.
    mutating func announce(tag position: Int, _ effects: inout Effects) {
        guard homeAssistant.discovery?.life.hasAnnounced == true else { return }
        effects.publish(
            homeAssistant.discovery?.announcement(of: DiscoveredTag(tags[position])).map(Publication.init) ?? [])
    }

    /// Receives a message of discovery.
    ///
    /// - Returns: whether it is one.
    mutating func receivedDiscovery(_ message: MQTTMessage, at now: Timestamp, _ effects: inout Effects) -> Bool {
        guard homeAssistant.discovery != nil else { return false }
        let before = homeAssistant.discovery?.deletions
        let isDiscovery = homeAssistant.discovery?.received(
            message.topic, message.payload, isRetained: message.isRetained, at: now.instant.sinceBoot)
        guard isDiscovery == true else { return false }
        if before != homeAssistant.discovery?.deletions { healthChanged(at: now, &effects) }
        return true
    }

    /// The problems of devices that a user has deleted in Home Assistant; none for tags that another bridge announces.
    private var deletedInHomeAssistant: [Problem] {
        guard let deletions = homeAssistant.discovery?.deletions, deletions.ofBridge || !deletions.tags.isEmpty else {
            return []
        }
        let deleted = tags.filter { deletions.tags.contains($0.entry.id.text) && fleet.scopes[$0.entry.id] == nil }
        return (deletions.ofBridge ? [Problem(.bridgeDeleted)] : [])
            + deleted.map { Problem(.deletedInHomeAssistant($0.entry), about: $0.entry.id.text) }
    }

    /// Announces all tags with changed entities, and removes those that no longer exist.
    private mutating func announceChanges(_ effects: inout Effects) {
        guard let old = homeAssistant.discovery?.documents else { return }
        homeAssistant.discovery?.adopt(Vocabulary(configuration))
        guard let discovery = homeAssistant.discovery, discovery.life.hasAnnounced else { return }
        for tag in tags {
            let removed = old.components(ofTag: tag.entry.id.text)
            effects.publish(
                discovery.documents.announcement(of: DiscoveredTag(tag), removing: removed).map(Publication.init))
        }
    }

    /// Removes a tag from Home Assistant.
    func withdraw(_ tag: TagMirror, _ effects: inout Effects) {
        effects.publish(
            homeAssistant.discovery?.documents.withdrawal(ofTag: tag.entry.id.text).map(Publication.init) ?? [])
    }

    /// Publishes `G/found`, and the announcement of the bridge if it lists other tags to pair.
    mutating func publishFound(_ effects: inout Effects) {
        let found = search.found.documents { tags.contains(serial: $0) }.tags
        let serials = Set(found.filter { !$0.isKnown }.map(\.tag.serial)).sorted()
        effects.publish(foundFact)
        effects.publish(homeAssistant.discovery?.setFound(serials).map(Publication.init) ?? [])
    }

    /// The same after a tag was added; nothing if the latest scan has not found it.
    mutating func publishFound(about serial: String, _ effects: inout Effects) {
        if search.found.contains(serial) { publishFound(&effects) }
    }

    /// The number of connected tags.
    var connectedTagsFact: Publication {
        .fact(topics.tags, ["connected": tags.count { $0.isConnected }, "known": tags.count])
    }

    private mutating func perform(_ action: DiscoveryAction, at now: Timestamp, _ effects: inout Effects) {
        switch action {
        case .publish(let messages): effects.publish(messages.map(Publication.init))
        case .announceAll(let again):
            homeAssistant.queue.begin(tags.map(\.entry.id), again: again, at: now.instant)
            let facts = announcementOfBridge
            effects.publish(again ? facts.map(\.reminder) : facts)
        case .repeatTouchModes: if !homeAssistant.queue.postponesTouchModes() { effects.publish(changedStates) }
        case .repeatBridge:
            effects.publish(announcementOfBridge.map(\.reminder))
            effects.remind { publishBridge(at: now, &$0) }
        case .repeatTag(let position):
            guard tags.indices.contains(position) else { return }
            effects.remind {
                announce(tag: position, &$0)
                tags[position].publishAll(at: now, &$0)
            }
        }
    }

    /// The facts that Home Assistant has to evaluate again after an update of the bridge: its templates for them have changed.
    private var changedStates: [Publication] {
        tags.flatMap { [$0.touchModeFact] + $0.presenceFacts }.map(\.reminder)
    }

    private var announcementOfBridge: [Publication] {
        homeAssistant.discovery?.documents.announcementOfBridge.map(Publication.init) ?? []
    }
}
