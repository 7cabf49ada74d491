import HomeAssistant
public import JacquardProtocol
public import Time

/// The bridge's state machine: known tags, pending commands and published facts.
///
/// Each method takes an event and returns the actions to perform. Time is an argument; ``deadline`` is the next time at
/// which the state changes without an event. After ``stop(at:)``, all methods return no actions.
public struct BridgeState: Sendable {
    var configuration: BridgeConfiguration {
        didSet { gestureExpirySeconds = Self.expirySeconds(configuration) }
    }
    let topics: BridgeTopics
    let boot: String
    let startedAt: Moment
    private var positions: [TagID: Int] = [:]
    private var deadlines = DeadlineQueue()

    var tags: [TagMirror]
    var pendingCommands: PendingCommands
    var peers: PeerBridges
    var former: FormerTopics
    var health = HealthMonitor()
    var adapters: [AdapterFacts]?
    var stack = StackFacts()
    var scan = ScanState()
    var seen = SeenTags()
    /// The serials of the tags that are being paired.
    var pairing: Set<String> = []
    var pairingProgress = PairingProgress()
    /// The tags found by the latest requested scan.
    var found = FoundTags()
    /// The tags that are being forgotten.
    var forgetting: Set<TagID> = []
    var departures: [Departure] = []
    var discovery: HomeAssistantDiscovery?
    private var gesturePayload: GesturePayload
    let statsPayload: StatsPayload
    /// MQTT message expiry of a gesture in whole seconds. At least 1, because 0 means immediate expiry.
    private var gestureExpirySeconds: UInt32
    private(set) var isStopped = false

    /// When to call ``deadlineReached(at:)``; nil if nothing is due.
    public internal(set) var deadline: Instant?

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
        boot: String, startedAt: Moment
    ) {
        self.configuration = configuration
        self.boot = boot
        self.startedAt = startedAt
        let topics = BridgeTopics(base: configuration.baseTopic, instance: configuration.instance)
        self.topics = topics
        let statsPayload = StatsPayload(boot: boot)
        self.statsPayload = statsPayload
        tags = Self.entries(configuration, records).map { entry, record in
            TagMirror(
                entry, record: record, topics: topics, bridge: configuration.instance, statsPayload: statsPayload,
                startedAt: startedAt)
        }
        pendingCommands = PendingCommands(bridge: configuration.instance, commandsPerTag: configuration.commandsPerTag)
        peers = PeerBridges(instance: configuration.instance)
        former = FormerTopics(instance: configuration.instance, earlier)
        discovery = HomeAssistantDiscovery(configuration, topics: topics)
        gestureExpirySeconds = Self.expirySeconds(configuration)
        gesturePayload = GesturePayload(boot: boot, bridge: configuration.instance)
        findPositions()
    }

    private static func expirySeconds(_ configuration: BridgeConfiguration) -> UInt32 {
        max(1, UInt32(clamping: configuration.gestureLifetime.components.seconds))
    }

    /// Returns the configured tags, then those that were paired by command. For a repeated id, the first entry counts.
    private static func entries(
        _ configuration: BridgeConfiguration, _ records: [TagRecord]
    ) -> [(TagEntry, TagRecord?)] {
        var ids: Set<TagID> = []
        let configured = configuration.tags.filter { ids.insert($0.id).inserted }.map { entry in
            (entry, records.first { $0.id == entry.id && $0.serial == entry.serial })
        }
        let serials = Set(configured.map(\.0.serial))
        let paired = records.filter { !serials.contains($0.serial) && ids.insert($0.id).inserted }
        return configured + paired.map { (TagEntry(id: $0.id, serial: $0.serial), $0) }
    }

    /// The subscriptions of the bridge.
    public var subscriptions: [(filter: String, qos: UInt8)] {
        (topics.filters + (discovery?.life.filters ?? [])).map { ($0, 1) }
    }

    /// The will message, which the broker publishes when the connection is lost.
    public var will: Publication { .fact(topics.state, word: "offline") }

    /// Publications at startup: bridge state and all retained facts.
    public mutating func start(at now: Moment) -> [BridgeAction] {
        publish(bridgeFacts(at: now) + tags.flatMap { $0.allFacts(at: now) })
    }

    /// Publications at shutdown: the results of all pending commands, then `offline` for every tag and the bridge.
    public mutating func stop(at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        isStopped = true
        deadline = nil
        let emptied = finishDepartures(at: now) { _ in true }
        let results = pendingCommands.removeAll().flatMap { command in
            pendingCommands.fail(command, command.isSent ? .stoppedAfterSending : .stoppedBeforeSending, at: now)
        }
        let facts = tags.indices.flatMap { tags[$0].stop(at: now) }
        let records = tags.indices.flatMap { tags[$0].remember() }
        let scan = scan.end() ? [scanFact] + foundFact : []
        if pairingProgress.isActive {
            pairingProgress.fail(.stoppedAfterSending, serial: pairingProgress.serial, at: now)
        }
        return emptied + publish(results + scan + facts + pairingFact + connectedTagsFact + [will]) + records
    }

    /// Handles an event of a tag; ignored for an unknown tag.
    public mutating func tag(_ id: TagID, _ event: TagEvent, at now: Moment) -> [BridgeAction] {
        guard let position = positions[id], !isStopped else { return [] }
        switch event {
        case .gesture(let gesture): return self.gesture(gesture, of: position, at: now)
        case .commandEnded(let token, let result): return commandEnded(token, result, of: position, at: now)
        default: return told(event, by: position, at: now)
        }
    }

    /// Handles facts about a tag from the Bluetooth stack; ignored for an unknown tag.
    public mutating func sighted(_ id: TagID, _ sighting: TagSighting, at now: Moment) -> [BridgeAction] {
        guard let position = positions[id], !isStopped else { return [] }
        let name = tags[position].sighting.name
        let publications = tags[position].sighted(sighting, at: now)
        let announcement = tags[position].sighting.name == name ? [] : discoveryFacts(ofTag: position)
        return publish(publications + announcement) + settle(position, at: now)
    }

    /// Handles the ``deadline``.
    public mutating func deadlineReached(at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        let late = pendingCommands.removeExpired(at: now.instant)
        let expired = late.flatMap { ranOut($0, at: now) }
        let accepted = pendingCommands.acceptOverdue(at: now)
        let due = deadlines.tags(dueAt: now.instant)
        let facts = due.flatMap { tags[$0].deadlineReached(at: now) }
        let records = due.flatMap { tags[$0].remember() }
        let rested = pendingCommands.takeTagsToTryAgain(at: now.instant).compactMap(position).sorted()
        defer { late.isEmpty ? updateDeadline(of: due + rested) : updateDeadline() }
        let foundTags = found.throttle.isDue(at: now.instant) ? foundFact : []
        let again = rested.flatMap { sendWaiting(of: $0, at: now) }
        let idle = due.flatMap { restIfIdle($0, at: now) }
        let departed = finishDepartures(at: now) { $0.due <= now.instant } + clearFormerTopics(at: now)
        return expired + publish(accepted + facts + foundTags + discoveryDue(at: now)) + again + idle
            + endScanInTime(at: now) + departed + records
    }
}

extension BridgeState {
    /// Returns the index of a tag.
    func position(of id: TagID) -> Int? { positions[id] }

    /// Rebuilds the index after the tag list changes.
    mutating func findPositions() {
        positions = Dictionary(tags.indices.map { (tags[$0].entry.id, $0) }) { first, _ in first }
        deadlines = DeadlineQueue(tags: tags.count)
        discovery?.setTags(tags.map(\.entry.id.text))
        updateDeadline()
    }

    /// Disconnects an on-demand tag after a time without commands.
    private mutating func restIfIdle(_ position: Int, at now: Moment) -> [BridgeAction] {
        guard let until = tags[position].intent.neededUntil, until <= now.instant else { return [] }
        tags[position].intent.deadlineReached(
            at: now.instant, isBusy: pendingCommands.isBusy(with: tags[position].entry.id))
        return settle(position, at: now)
    }

    /// Wraps publications in actions.
    func publish(_ publications: [Publication]) -> [BridgeAction] {
        publications.map(BridgeAction.publish)
    }

    /// Recalculates the deadline for all tags.
    mutating func updateDeadline() {
        updateDeadline(of: Array(tags.indices))
    }

    /// Recalculates the deadline after an event that affects only these tags.
    mutating func updateDeadline(of positions: [Int]) {
        for position in positions { deadlines.set(tags[position].deadline, of: position) }
        var earliest = pendingCommands.deadline
        earliest.lower(to: scan.until?.instant)
        earliest.lower(to: discovery?.life.deadline.map(Instant.init(sinceBoot:)))
        earliest.lower(to: former.deadline)
        earliest.lower(to: found.throttle.due)
        for departure in departures { earliest.lower(to: departure.due) }
        earliest.lower(to: deadlines.next)
        deadline = earliest
    }

    /// The hot path: encodes without an encoder, and recalculates the deadline only when a throttled publication of
    /// statistics starts or ends.
    private mutating func gesture(_ gesture: Gesture, of position: Int, at now: Moment) -> [BridgeAction] {
        let name = GestureName(gesture)
        let sequence = tags[position].countGesture(name, at: now)
        let publication = Publication(
            topic: tags[position].topics.gesture,
            payload: gesturePayload.bytes(name: name, number: gesture.rawValue, sequence: sequence, at: now),
            kind: .event(lifetime: configuration.gestureLifetime),
            messageExpirySeconds: gestureExpirySeconds)
        let wasHolding = tags[position].stats.isHolding
        let stats = tags[position].statsChanged(at: now)
        if tags[position].stats.isHolding != wasHolding { updateDeadline(of: [position]) }
        return stats.isEmpty ? [.publish(publication)] : publish([publication] + stats)
    }

    private mutating func told(_ event: TagEvent, by position: Int, at now: Moment) -> [BridgeAction] {
        defer { updateDeadline(of: [position]) }
        let wasConnected = tags[position].isConnected
        let publications = tags[position].take(event, at: now)
        switch event {
        case .connection:
            let counts = tags[position].isConnected == wasConnected ? [] : [infoFact] + connectedTagsFact
            return publish(publications + healthChanged(at: now) + counts) + settle(position, at: now)
                + sendWaiting(of: position, at: now)
        case .information:
            return publish(publications + healthChanged(at: now) + discoveryFacts(ofTag: position))
        case .gear, .battery: return publish(publications) + settle(position, at: now)
        default: return publish(publications)
        }
    }
}
