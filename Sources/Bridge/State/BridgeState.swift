public import JacquardProtocol
public import Time

/// The bridge as a value: what it knows of its tags, what it owes to the askers of commands, what it tells the world.
///
/// Every method says what happened and gives back what to do about it. Time comes in as an argument; what becomes due
/// without an event is announced by ``deadline``. After ``stop(at:)`` nothing comes out any more.
public struct BridgeState: Sendable {
    var configuration: BridgeConfiguration {
        didSet { gestureExpirySeconds = Self.expirySeconds(configuration) }
    }
    let topics: BridgeTopics
    let boot: String
    let startedAt: Moment
    private var positions: [TagID: Int] = [:]
    private var agenda = Agenda()

    var tags: [TagMirror]
    var desk: CommandDesk
    var neighbours: Neighbours
    var former: FormerTopics
    var health = HealthBook()
    var adapters: [AdapterFacts]?
    var stack = StackFacts()
    var scan = ScanState()
    var seen = SeenTags()
    /// The serials of the tags that are being paired.
    var pairing: Set<String> = []
    var pairingProgress = PairingProgress()
    /// The tags that the latest requested scan found.
    var found = FoundTags()
    /// The tags that are being forgotten.
    var forgetting: Set<TagID> = []
    var departures: [Departure] = []
    var discovery: HomeAssistantDiscovery?
    private var gesturePayload: GesturePayload
    let statsPayload: StatsPayload
    /// The lifetime of a gesture as MQTT 5 has it: whole seconds, and 0 would mean at once.
    private var gestureExpirySeconds: UInt32
    private(set) var isStopped = false

    /// When ``deadlineReached(at:)`` wants to be called; nil when nothing is due.
    public internal(set) var deadline: Instant?

    /// A bridge that has not told anything yet.
    ///
    /// - Parameters:
    ///   - configuration: the tags and the names.
    ///   - records: what the state file keeps. A tag that the configuration does not list is known by it alone; what it
    ///     says of the others but id and serial counts too.
    ///   - earlier: what is known of earlier runs, whose topics may still be at the broker.
    ///   - boot: a few characters that no other start of this bridge has had, such as `9f3c`.
    ///   - startedAt: now.
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
        desk = CommandDesk(bridge: configuration.instance, commandsPerTag: configuration.commandsPerTag)
        neighbours = Neighbours(instance: configuration.instance)
        former = FormerTopics(instance: configuration.instance, earlier)
        discovery = HomeAssistantDiscovery(configuration, topics: topics)
        gestureExpirySeconds = Self.expirySeconds(configuration)
        gesturePayload = GesturePayload(boot: boot, bridge: configuration.instance)
        findPositions()
    }

    private static func expirySeconds(_ configuration: BridgeConfiguration) -> UInt32 {
        max(1, UInt32(clamping: configuration.gestureLifetime.components.seconds))
    }

    /// The tags of the configuration, then those that were paired by command; each id once, the first time.
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

    /// What to subscribe to.
    public var subscriptions: [(filter: String, qos: UInt8)] {
        (topics.filters + (discovery?.filters ?? [])).map { ($0, 1) }
    }

    /// What the broker says when the bridge vanishes.
    public var will: Publication { .fact(topics.state, word: "offline") }

    /// The first words: the bridge is there, and everything that a reader of retained topics looks for.
    public mutating func start(at now: Moment) -> [BridgeAction] {
        publish(bridgeFacts(at: now) + tags.flatMap { $0.allFacts(at: now) })
    }

    /// The last words: every command gets its result, every tag and at last the bridge itself is offline.
    public mutating func stop(at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        isStopped = true
        deadline = nil
        let emptied = finishDepartures(at: now) { _ in true }
        let results = desk.removeAll().flatMap { command in
            desk.fail(command, command.isSent ? .stoppedAfterSending : .stoppedBeforeSending, at: now)
        }
        let facts = tags.indices.flatMap { tags[$0].stop(at: now) }
        let records = tags.indices.flatMap { tags[$0].remember() }
        let scan = scan.end() ? [scanFact] + foundFact : []
        if pairingProgress.isActive {
            pairingProgress.fail(.stoppedAfterSending, serial: pairingProgress.serial, at: now)
        }
        return emptied + publish(results + scan + facts + pairingFact + connectedTagsFact + [will]) + records
    }

    /// Something happened to a tag; one that is not configured is ignored.
    public mutating func tag(_ id: TagID, _ event: TagEvent, at now: Moment) -> [BridgeAction] {
        guard let position = positions[id], !isStopped else { return [] }
        switch event {
        case .gesture(let gesture): return self.gesture(gesture, of: position, at: now)
        case .commandEnded(let token, let result): return commandEnded(token, result, of: position, at: now)
        default: return told(event, by: position, at: now)
        }
    }

    /// The Bluetooth stack noticed something about a tag; one that is not configured is ignored.
    public mutating func sighted(_ id: TagID, _ sighting: TagSighting, at now: Moment) -> [BridgeAction] {
        guard let position = positions[id], !isStopped else { return [] }
        let name = tags[position].sighting.name
        let publications = tags[position].sighted(sighting, at: now)
        let announcement = tags[position].sighting.name == name ? [] : discoveryFacts(ofTag: position)
        return publish(publications + announcement) + settle(position, at: now)
    }

    /// Something is due.
    public mutating func deadlineReached(at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        let late = desk.removeExpired(at: now.instant)
        let expired = late.flatMap { ranOut($0, at: now) }
        let accepted = desk.acceptOverdue(at: now)
        let due = agenda.tags(dueAt: now.instant)
        let facts = due.flatMap { tags[$0].deadlineReached(at: now) }
        let records = due.flatMap { tags[$0].remember() }
        let rested = desk.takeTagsToTryAgain(at: now.instant).compactMap(position).sorted()
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
    /// Where a tag's mirror is.
    func position(of id: TagID) -> Int? { positions[id] }

    /// The list of tags is another one.
    mutating func findPositions() {
        positions = Dictionary(tags.indices.map { (tags[$0].entry.id, $0) }) { first, _ in first }
        agenda = Agenda(tags: tags.count)
        discovery?.follow(tags)
        updateDeadline()
    }

    /// Disconnects a tag on demand that no command has needed for a while.
    private mutating func restIfIdle(_ position: Int, at now: Moment) -> [BridgeAction] {
        guard let until = tags[position].wish.neededUntil, until <= now.instant else { return [] }
        tags[position].wish.deadlineReached(at: now.instant, isBusy: desk.isBusy(with: tags[position].entry.id))
        return settle(position, at: now)
    }

    /// Wraps publications.
    func publish(_ publications: [Publication]) -> [BridgeAction] {
        publications.map(BridgeAction.publish)
    }

    /// Looks for the earliest of all that is due, at every tag.
    mutating func updateDeadline() {
        updateDeadline(of: Array(tags.indices))
    }

    /// Looks for the earliest of all that is due, after an event that can have changed it for these tags only.
    mutating func updateDeadline(of positions: [Int]) {
        for position in positions { agenda.set(tags[position].deadline, of: position) }
        var earliest = desk.deadline
        earliest.lower(to: scan.until?.instant)
        earliest.lower(to: discovery?.life.deadline)
        earliest.lower(to: former.deadline)
        earliest.lower(to: found.throttle.due)
        for departure in departures { earliest.lower(to: departure.due) }
        earliest.lower(to: agenda.next)
        deadline = earliest
    }

    /// The hot path: bytes by hand, and the deadline is looked for only when statistics begin or cease to be held back.
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
