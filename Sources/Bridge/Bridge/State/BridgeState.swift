import HomeAssistant
public import JacquardProtocol
public import MQTTTypes
public import Time

/// The bridge's state machine: known tags, pending commands and published facts.
///
/// ``handle(_:at:_:)`` takes an event and adds the actions to perform. Time is an argument; ``deadline`` is the next
/// time at which the state changes without an event.
///
/// The parts are state machines with private state. This type passes events on to them, and turns their changes into
/// publications. It is never copied.
public struct BridgeState: ~Copyable {
    var configuration: BridgeConfiguration {
        didSet {
            reactions.gestures.lifetime = configuration.options.gestureLifetime
            reactions.gestures.tracing = tracing
        }
    }
    var run: BridgeRun

    var tags: TagTable
    var pendingCommands: PendingCommands
    var intake: CommandIntake
    var reactions: Reactions

    var fleet: Fleet
    var leftovers: Leftovers
    var homeAssistant = HomeAssistantAnnouncements()
    var search = TagSearch()
    var stack = StackFacts()
    var diagnostics: Diagnostics

    // It never changes. With `let`, Swift 6.2 rejects the mutating calls of the initializer, because the type is not copyable.
    private var passedByAddress = PassedByAddress()

    /// When to report ``BridgeEvent/deadlineReached``; nil if nothing is due.
    public private(set) var deadline: Instant?

    /// Creates a bridge that has not started.
    ///
    /// - Parameters:
    ///   - configuration: the tags and names.
    ///   - records: the contents of the state file. Tags that the configuration does not list are known from it. For
    ///     listed tags it supplies everything but id and serial.
    ///   - earlier: earlier runs, whose topics may still be retained.
    ///   - boot: a few characters that are unique to this start, such as `9f3c`.
    ///   - startedAt: the current time.
    public init(
        configuration: BridgeConfiguration, records: [TagRecord] = [], earlier: EarlierRuns = EarlierRuns(),
        boot: String, startedAt: Timestamp
    ) {
        self.configuration = configuration
        let topics = BridgeTopics(
            base: configuration.baseTopic, instance: configuration.instance, hasRadios: !configuration.radios.isEmpty)
        run = BridgeRun(topics, boot: boot, startedAt: startedAt)
        let context = configuration.tagContext(topics, run.statsPayload)
        tags = TagTable(
            Self.entries(configuration, records).map { entry, record in
                TagMirror(entry, record: record, in: context, at: startedAt)
            })
        pendingCommands = PendingCommands(
            bridge: configuration.instance, commandsPerTag: configuration.options.commandsPerTag)
        intake = CommandIntake(configuration)
        fleet = Fleet(instance: configuration.instance, isWatching: configuration.options.watchesFleet)
        leftovers = Leftovers(instance: configuration.instance, base: configuration.baseTopic, earlier)
        homeAssistant.discovery = HomeAssistantDiscovery(configuration, topics: topics)
        homeAssistant.discovery?.setFormerPrefixes(earlier.places.compactMap(\.announcement?.prefix))
        reactions = Reactions(
            chords: configuration.options.chords, reflexes: configuration.reflexes,
            GestureEncoder(boot: boot, bridge: configuration.instance, lifetime: configuration.options.gestureLifetime))
        diagnostics = Diagnostics(topics, damage: earlier.damage, startedAt: startedAt)
        reactions.gestures.tracing = tracing
        for record in records where !tags.contains(serial: record.serial) {
            leftovers.takenIDs.add(record.id, of: record.serial)
        }
        for position in tags.indices where earlier.linkedTags.contains(tags[position].entry.id) {
            tags[position].ledMayPlay(at: startedAt)
        }
        tagListChanged()
        _ = updateHealth(at: startedAt)
        deadline = nextDeadline()
    }

    /// Returns the configured tags, then those that were paired by command. For a repeated id, the first entry counts.
    private static func entries(
        _ configuration: BridgeConfiguration, _ records: [TagRecord]
    ) -> [(TagEntry, TagRecord?)] {
        var ids: Set<TagID> = []
        let recordsByID = Dictionary(grouping: records, by: \.id)
        let configured = configuration.tags.filter { ids.insert($0.id).inserted }.map { entry in
            (entry, recordsByID[entry.id]?.first { $0.serial == entry.serial })
        }
        let serials = Set(configured.map(\.0.serial))
        let paired = records.filter { !serials.contains($0.serial) && ids.insert($0.id).inserted }
        return configured + paired.map { (TagEntry(id: $0.id, serial: $0.serial), $0) }
    }

    /// The topics of this run.
    var topics: BridgeTopics { run.topics }

    /// The values that all tags share.
    var tagContext: TagMirror.Context {
        configuration.tagContext(topics, run.statsPayload)
    }

    /// Creates the trace context of each gesture; nil while it is switched off.
    var tracing: TraceContext? {
        guard configuration.options.isTracing else { return nil }
        return TraceContext(instance: configuration.instance, boot: run.boot, startedAt: run.startedAt)
    }

    /// The subscriptions of the bridge.
    public var subscriptions: [(filter: String, qos: MQTTQoS)] {
        let filters = topics.filters + (homeAssistant.discovery?.life.filters ?? []) + beatFilters + groupFilters
        return (filters + leftovers.former.filtersElsewhere).map { ($0, .atLeastOnce) }
    }

    /// Returns whether a topic is that of the bridge's document.
    public func isOwnInfo(_ topic: String) -> Bool { topics.isInfo(topic) }

    /// The will message, which the broker publishes when the connection is lost.
    public var will: Publication { .fact(topics.state, word: "offline") }

    /// The known tags.
    public var knownTags: [(handle: TagHandle, entry: TagEntry)] { tags.map { ($0.handle, $0.entry) } }

    /// Returns the id of a tag; nil for an unknown one.
    public func id(of tag: TagHandle) -> TagID? { tags.position(of: tag).map { tags[$0].entry.id } }

    /// The tag of a handle; nil for an unknown handle.
    public func entry(of tag: TagHandle) -> TagEntry? { tags.position(of: tag).map { tags[$0].entry } }

    /// Returns the handle of a tag; nil for an unknown id.
    public func handle(of id: TagID) -> TagHandle? { tags.position(of: id).map { tags[$0].handle } }
}

// MARK: Events

extension BridgeState {
    /// Handles an event.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - now: the current time.
    ///   - effects: gets the actions to perform, in this order. After ``BridgeEvent/stopping`` commands are rejected, because the
    ///     broker counts them as delivered; other events have no effect.
    public mutating func handle(_ event: BridgeEvent, at now: Timestamp, _ effects: inout Effects) {
        guard run.shutdown == nil else {
            switch event {
            case .message(let message): receivedWhileStopping(message, at: now, &effects)
            case .brokerConnected: connectedWhileStopping(&effects)
            default: break
            }
            return
        }
        // The hot path; it updates the deadline itself, because most gestures don't change it.
        if case .tag(let tag, .gesture(let gesture)) = event {
            made(gesture, by: tag, at: now, &effects)
            if tags.activeTags > 0 { touched(tag, at: now, &effects) }
            return
        }
        dispatch(event, at: now, &effects)
        deadline = run.shutdown == nil ? nextDeadline() : nil
    }

    private mutating func dispatch(_ event: BridgeEvent, at now: Timestamp, _ effects: inout Effects) {
        switch event {
        case .started: started(at: now, &effects)
        case .stopping: stop(at: now, &effects)
        case .deadlineReached: deadlineReached(at: now, &effects)
        case .requestEnded(let token, let result): requestEnded(token, result, at: now, &effects)
        case .measured(let measurement): measured(measurement, at: now, &effects)
        case .configurationChanged(let new, let isBrokerConnected):
            adopt(new, isBrokerConnected: isBrokerConnected, at: now, &effects)
        case .tagAdded(let entry, let record): add(entry, record: record, at: now, &effects)
        case .tagChanged(let entry): change(entry, at: now, &effects)
        case .tagRemoved(let id): release(id, at: now, &effects)
        case .tag(let tag, let event): tagReported(event, by: tag, at: now, &effects)
        case .sighting(let tag, let sighting): sighted(tag, sighting, at: now, &effects)
        case .advertisement(let tag): advertised(tag, at: now, &effects)
        case .duplicateSerial(let serial, let addresses): duplicateSerial(serial, at: addresses, at: now, &effects)
        case .pairing(let tag, let stage): pairingReached(stage, of: tag, at: now, &effects)
        case .radio(let tag, let event): radioReported(event, about: tag, at: now, &effects)
        case .bluetooth(let state): bluetoothChanged(to: state, at: now, &effects)
        case .bluetoothFault(let cause): bluetoothFaultChanged(to: cause, at: now, &effects)
        case .adapters(let list): adaptersChanged(to: list, at: now, &effects)
        case .bluezVersion(let version): bluezVersionChanged(to: version, &effects)
        case .scanEnded: scanEnded(because: "ended by Bluetooth", at: now, &effects)
        case .brokerHasNoSession: fleet.peers.sessionLost(at: now.instant)
        case .leavingBroker:
            run.isLeavingBroker = true
            leaveBroker(at: now, &effects)
        case .brokerConnected:
            brokerChanged(isConnected: true, at: now, &effects)
            brokerConnected(at: now, &effects)
        case .brokerDisconnected:
            brokerChanged(isConnected: false, at: now, &effects)
            brokerDisconnected(at: now, &effects)
        case .brokerProtocol(let version, let node): brokerProtocol(version, node, at: now, &effects)
        case .message(let message): received(message, at: now, &effects)
        case .subscriptionRefused(let filter):
            healthEvent(at: now, &effects) { $0.refused(subscription: filter) }
        case .subscriptionGranted(let filter):
            healthEvent(at: now, &effects) { $0.granted(subscription: filter) }
        case .identifierTaken: identifierTaken(at: now, &effects)
        case .messageRefused(let topic, let reason, let size):
            if topic == topics.log { diagnostics.log.end(&effects) }
            healthEvent(at: now, &effects) { $0.refused(messageTo: topic, reason, size, at: now.instant) }
        case .messagesLost(let losses, let bytes): lost(losses, bytes: bytes, at: now, &effects)
        case .logged(let entries, let omitted):
            diagnostics.log.logged(entries, omitted: omitted, of: tags, at: now, &effects)
        case .file(let id, let file, let event): reported(event, about: file, of: id, at: now, &effects)
        case .traffic(let tag, let event): diagnostics.recorder.record(event, of: id(of: tag), at: now, &effects)
        }
    }

    /// Encodes without an encoder, and updates the deadline only if a throttled publication of statistics starts or
    /// ends.
    private mutating func made(
        _ gesture: Gesture, by tag: TagHandle, at now: Timestamp, _ effects: inout Effects
    ) {
        let name = GestureName(gesture)
        guard let count = tags.countGesture(name, of: tag, at: now) else { return }
        guard reactions.isEmpty else {
            let made = MadeGesture(gesture: gesture, sequence: count.sequence, at: now)
            let id = tags[count.position].entry.id
            var chords: [String] = []
            react(at: now, &effects) { chords = $0.made(made, by: id, of: $1, at: now, &$2) }
            tags[count.position].countChords(chords, at: now, &effects)
            if let stats = count.stats { effects.publish(stats) }
            return updateDeadline()
        }
        if count.isDeadlineChanged { deadline = nextDeadline() }
        effects.publish(
            reactions.gestures.publication(
                on: count.topic, name, number: gesture.rawValue, of: tag, sequence: count.sequence, at: now))
        if let stats = count.stats { effects.publish(stats) }
    }

    /// Publications at shutdown: the results of all pending commands, then `offline` for every tag and the bridge.
    private mutating func stop(at now: Timestamp, _ effects: inout Effects) {
        run.shutdown = Shutdown(connected: Set(tags.filter(\.isConnected).map(\.entry.id)))
        react(at: now, &effects) { $0.releaseAll($1, at: now, &$2) }
        finish(leftovers.departures.takeAll(), at: now, &effects)
        diagnostics.recorder.end(.removed, at: now, &effects)
        for command in pendingCommands.removeAll() { stopped(command, at: now, &effects) }
        if search.scan.end() {
            effects.publish(scanFact)
            effects.publish(foundFact)
        }
        for position in tags.indices { tags[position].tell(.stopping, at: now, &effects) }
        for position in tags.indices { tags[position].stop(at: now, &effects) }
        _ = search.pairing.handle(.stopped, at: now)
        effects.publish(pairingFact)
        effects.publish(connectedTagsFact)
        // Other bridges know that the commands before it have their results, and that this one is connected to no tag.
        if !fleet.peers.isEmpty { effects.publish(infoFact.reminder) }
        effects.publish(will)
        for position in tags.indices { tags[position].store(&effects) }
    }

    /// A connection that was made for the last facts: all are published. The facts of a tag that was not connected may be
    /// those of another bridge by now.
    private func connectedWhileStopping(_ effects: inout Effects) {
        guard let shutdown = run.shutdown, !fleet.peers.isEmpty else { return }
        let others = tags.indices.filter { !shutdown.connected.contains(tags[$0].entry.id) }
        if !others.isEmpty { effects.add(.withhold(others.flatMap { tags[$0].retainedTopics })) }
    }

    private mutating func deadlineReached(at now: Timestamp, _ effects: inout Effects) {
        let due = tags.due(at: now.instant)
        react(at: now, &effects) { $0.releaseDue($1, at: now, &$2) }
        for command in pendingCommands.removeExpired(at: now.instant) { expired(command, at: now, &effects) }
        acceptOverdue(at: now, &effects)
        for position in due { tags[position].deadlineReached(at: now, &effects) }
        if search.found.isDue(at: now.instant) { publishFound(&effects) }
        pairingDue(at: now, &effects)
        if fleet.reminders.takeDue(at: now.instant) { effects.publish(presenceFacts.map(\.reminder)) }
        discoveryDue(at: now, &effects)
        if tags.work.refreshes.isDue(at: now.instant) { publishAllAgain(at: now, &effects) }
        listsDue(at: now, &effects)
        let retried = pendingCommands.takeTagsToRetry(at: now.instant).compactMap(tags.position).sorted()
        for position in retried { sendWaiting(of: position, at: now, &effects) }
        for position in due {
            restIfIdle(position, at: now, &effects)
            let isBusy = pendingCommands.isBusy(with: tags[position].entry.id)
            tags.unconfirmedDue(of: position, isBusy: isBusy, at: now, &effects)
        }
        endScanInTime(at: now, &effects)
        diagnostics.recorder.deadlineReached(at: now, &effects)
        diagnostics.log.deadlineReached(at: now, &effects)
        let departed = leftovers.departures.takeDue(at: now.instant)
        finish(departed, at: now, &effects)
        if !departed.isEmpty { stopReadingFormerAnnouncements(&effects) }
        clearFormerTopics(at: now, &effects)
        for position in due { tags[position].store(&effects) }
        beatsDue(at: now, &effects)
        scopesDue(at: now, &effects)
        workDue(at: now, &effects)
        for position in due where tags[position].features.deadline.map({ $0 <= now.instant }) == true {
            tags[position].tell(.deadline, at: now, &effects)
        }
    }

    mutating func updateDeadline() {
        deadline = nextDeadline()
    }

    private mutating func nextDeadline() -> Instant? {
        var earliest = pendingCommands.deadline
        earliest.lower(to: tags.nextDeadline())
        earliest.lower(to: reactions.deadline)
        earliest.lower(to: tags.work.deadline)
        earliest.lower(to: fleet.deadline)
        earliest.lower(to: leftovers.deadline)
        earliest.lower(to: homeAssistant.deadline)
        earliest.lower(to: search.deadline)
        earliest.lower(to: diagnostics.deadline)
        return earliest
    }
}

extension BridgeConfiguration {
    /// Returns the values that all tags share.
    func tagContext(_ topics: BridgeTopics, _ statsPayload: StatsPayload) -> TagMirror.Context {
        TagMirror.Context(
            topics: topics, statsPayload: statsPayload, options: options, hasRadios: !radios.isEmpty,
            hasDiscovery: homeAssistant != nil)
    }
}
