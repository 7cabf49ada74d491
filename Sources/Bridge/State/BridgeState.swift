public import JacquardProtocol

/// The bridge as a value: what it knows of its tags, what it owes to the askers of commands, what it tells the world.
///
/// Every method says what happened and gives back what to do about it. Time comes in as an argument; what becomes due
/// without an event is announced by ``deadline``. After ``stop(at:)`` nothing comes out any more.
public struct BridgeState: Sendable {
    let configuration: BridgeConfiguration
    let topics: Topics
    let boot: String
    let startedAt: Moment
    private let positions: [TagID: Int]

    var tags: [TagMirror]
    var desk: CommandDesk
    var neighbours: Neighbours
    var health = HealthBook()
    var adapters: [AdapterFacts]?
    var stack = StackFacts()
    var discovery: HomeAssistantDiscovery?
    private var gestures: GesturePayload
    /// The lifetime of a gesture as MQTT 5 has it: whole seconds, and 0 would mean at once.
    private let gestureExpirySeconds: UInt32
    private(set) var isStopped = false

    /// When ``deadlineReached(at:)`` wants to be called; nil when nothing is due.
    public internal(set) var deadline: ContinuousClock.Instant?

    /// A bridge that has not told anything yet.
    ///
    /// - Parameters:
    ///   - configuration: the tags and the names.
    ///   - boot: a few characters that no other start of this bridge has had, such as `9f3c`.
    ///   - startedAt: now.
    public init(configuration: BridgeConfiguration, boot: String, startedAt: Moment) {
        self.configuration = configuration
        self.boot = boot
        self.startedAt = startedAt
        let topics = Topics(base: configuration.baseTopic, instance: configuration.instance)
        self.topics = topics
        var positions: [TagID: Int] = [:]
        var tags: [TagMirror] = []
        for entry in configuration.tags where positions[entry.id] == nil {
            positions[entry.id] = tags.count
            tags.append(
                TagMirror(
                    entry, topics: topics, bridge: configuration.instance, boot: boot, startedAt: startedAt))
        }
        self.positions = positions
        self.tags = tags
        desk = CommandDesk(bridge: configuration.instance, commandsPerTag: configuration.commandsPerTag)
        neighbours = Neighbours(instance: configuration.instance)
        discovery = HomeAssistantDiscovery(configuration, topics: topics)
        gestureExpirySeconds = max(1, UInt32(clamping: configuration.gestureLifetime.components.seconds))
        gestures = GesturePayload(boot: boot, bridge: configuration.instance)
    }

    /// What to subscribe to.
    public var subscriptions: [(filter: String, qos: UInt8)] {
        (topics.filters + (discovery?.filters(tags) ?? [])).map { ($0, 1) }
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
        let results = desk.removeAll().flatMap { command in
            desk.fail(command, command.isSent ? .stoppedAfterSending : .stoppedBeforeSending, at: now)
        }
        let facts = tags.indices.flatMap { tags[$0].stop(at: now) }
        return publish(results + facts + connectedTagsFact + [will])
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
        return publish(publications + (tags[position].sighting.name == name ? [] : discoveryFacts(ofTag: position)))
    }

    /// Gestures of these topics were dropped by the ``Outbox`` (``Outbox/takeDroppedEvents()``).
    public mutating func eventsDropped(_ counts: [String: Int], at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        defer { updateDeadline() }
        return publish(
            tags.indices.flatMap { index in
                counts[tags[index].topics.gesture].map { tags[index].gesturesExpired($0, at: now) } ?? []
            })
    }

    /// Something is due.
    public mutating func deadlineReached(at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        defer { updateDeadline() }
        let expired = desk.removeExpired(at: now.instant).flatMap { ranOut($0, at: now) }
        let accepted = desk.acceptOverdue(at: now)
        let facts = tags.indices.flatMap { tags[$0].deadlineReached(at: now) }
        return publish(expired + accepted + facts + discoveryDue(at: now))
    }
}

extension BridgeState {
    /// Where a tag's mirror is.
    func position(of id: TagID) -> Int? { positions[id] }

    /// Wraps publications.
    func publish(_ publications: [Publication]) -> [BridgeAction] {
        publications.map(BridgeAction.publish)
    }

    /// Looks for the earliest of all that is due.
    mutating func updateDeadline() {
        deadline = (tags.compactMap(\.deadline) + [desk.deadline, discovery?.life.deadline].compactMap(\.self)).min()
    }

    /// The hot path: bytes by hand, and the deadline moves only when statistics are held back.
    private mutating func gesture(_ gesture: Gesture, of position: Int, at now: Moment) -> [BridgeAction] {
        let name = GestureName(gesture)
        let sequence = tags[position].countGesture(name, at: now)
        let publication = Publication(
            topic: tags[position].topics.gesture,
            payload: gestures.bytes(name: name, number: gesture.rawValue, sequence: sequence, at: now),
            kind: .event(lifetime: configuration.gestureLifetime),
            messageExpirySeconds: gestureExpirySeconds)
        let stats = tags[position].statsChanged(at: now)
        if let due = tags[position].stats.due, due < deadline ?? due.advanced(by: .seconds(1)) { deadline = due }
        return stats.isEmpty ? [.publish(publication)] : publish([publication] + stats)
    }

    private mutating func told(_ event: TagEvent, by position: Int, at now: Moment) -> [BridgeAction] {
        defer { updateDeadline() }
        let wasAvailable = tags[position].isAvailable
        var publications = tags[position].take(event, at: now)
        if case .information = event { publications += healthChanged(at: now) + discoveryFacts(ofTag: position) }
        if tags[position].isAvailable != wasAvailable { publications += connectedTagsFact }
        guard tags[position].isAvailable, !wasAvailable else { return publish(publications) }
        return publish(publications) + desk.send(to: tags[position].entry.id, at: now)
    }
}
