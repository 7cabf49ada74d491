import EventLoop
import MQTT
import MQTTTypes
import Time

/// A broker as mosquitto 2 is: sessions, QoS 1 with repetition, retained messages and wills.
@LoopActor
final class SimulatedBroker {
    /// A message for a client that is not acknowledged.
    private struct Outgoing {
        let message: MQTTMessage
        let expires: Instant?
    }

    private struct Session {
        var pipe: NetworkPipe?
        var hello: ClientPacket.Hello
        var subscriptions: [(filter: MQTTTopicFilter, qos: MQTTQoS)] = []
        var queue: [Outgoing] = []
        var inFlight: [(identifier: Int32, outgoing: Outgoing)] = []
        var lastIdentifier: Int32 = 0
        var lastHeard: Instant
        /// Counts connections, so that an old timer has no effect.
        var generation = 0
    }

    private let world: World
    private var sessions: [String: Session] = [:]
    private var pipes: [ObjectIdentifier: (pipe: NetworkPipe, identifier: String?)] = [:]
    /// Retained messages by topic.
    private(set) var retained: [String: MQTTMessage] = [:]
    /// Whether the process runs.
    private(set) var isUp = true
    /// Whether the process runs and handles nothing.
    private(set) var isStalled = false
    private var stalledWork: [@LoopActor () -> Void] = []
    /// Whether the process stands still and its sockets accept nothing more.
    var isFull: Bool { stalledWork.count > 200 }
    /// Whether sessions and retained messages survive a restart.
    var isPersistent = true
    /// Whether sessions that have begun with a clean start do not survive a restart, as with mosquitto 2.0.11.
    var forgetsFreshSessions = false
    /// The reason of the refusal of every CONNECT; nil: none.
    var refusal: UInt8?
    /// Whether MQTT 5 is refused.
    var refusesVersion5 = false
    /// The nodes that do not run.
    private var nodesDown: Set<String> = []
    /// The number of messages of a session that may be in flight: the bridge's receive maximum.
    private static let mostInFlight = 10
    private static let mostQueued = 1_000

    /// The subscribers of each topic, in order, until a subscription changes.
    private var subscribers: [String: [(identifier: String, qos: MQTTQoS)]] = [:]

    init(_ world: World) {
        self.world = world
    }

    /// Whether a client is connected.
    func isConnected(_ identifier: String) -> Bool { sessions[identifier]?.pipe != nil }

    /// Whether all nodes run.
    var hasAllNodes: Bool { nodesDown.isEmpty }

    /// Whether a node accepts connections.
    func accepts(_ node: String) -> Bool { isUp && !nodesDown.contains(node) }

    // MARK: Faults

    /// Ends the process.
    func stop() {
        guard isUp else { return }
        isUp = false
        isStalled = false
        stalledWork = []
        for entry in sortedPipes() { entry.pipe.hangUp() }
        pipes = [:]
        for identifier in sessions.keys.sorted() {
            sessions[identifier]?.pipe = nil
            requeue(identifier)
            let hello = sessions[identifier]?.hello
            let isFresh = forgetsFreshSessions && hello?.isCleanStart == true
            if !isPersistent || isFresh || hello?.sessionExpiry == .zero { sessions[identifier] = nil }
        }
        if !isPersistent { retained = [:] }
    }

    /// Starts the process. Wills of clients that were connected are lost, as with mosquitto.
    func start() {
        guard !isUp else { return }
        isUp = true
        for identifier in sessions.keys.sorted() { expireLater(identifier) }
    }

    /// Stops or continues the process.
    func stall(_ isStalled: Bool) {
        guard isUp, isStalled != self.isStalled else { return }
        self.isStalled = isStalled
        guard !isStalled else { return }
        let work = stalledWork
        stalledWork = []
        for body in work { body() }
        for entry in sortedPipes() { entry.pipe.wake() }
    }

    /// Ends one node: its clients lose their connections, and their sessions move on to another node.
    func stop(node: String) {
        nodesDown.insert(node)
        for entry in sortedPipes() where entry.pipe.node == node {
            entry.pipe.hangUp()
            lost(entry.pipe)
        }
    }

    /// Starts a node.
    func start(node: String) {
        nodesDown.remove(node)
    }

    /// Closes the connection of a client, as an administrator does.
    func kick(_ identifier: String) {
        guard let pipe = sessions[identifier]?.pipe else { return }
        pipe.hangUp()
        lost(pipe)
    }

    func networkIsBack() {
        for entry in sortedPipes() { entry.pipe.networkIsBack() }
    }

    private func sortedPipes() -> [(pipe: NetworkPipe, identifier: String?)] {
        order.compactMap { pipes[$0] }
    }

    /// The order of ``pipes``.
    private var order: [ObjectIdentifier] = []

    // MARK: Connections

    func add(_ pipe: NetworkPipe) {
        let key = ObjectIdentifier(pipe)
        pipes[key] = (pipe, nil)
        order.removeAll { pipes[$0] == nil || $0 == key }
        order.append(key)
    }

    /// The connection has ended without a DISCONNECT.
    func lost(_ pipe: NetworkPipe) {
        perform { [self] in
            guard let entry = pipes.removeValue(forKey: ObjectIdentifier(pipe)), let identifier = entry.identifier
            else { return }
            leave(identifier, publishesWill: true)
        }
    }

    private func perform(_ body: @escaping @LoopActor () -> Void) {
        guard isUp else { return }
        if isStalled { stalledWork.append(body) } else { body() }
    }

    func received(_ packet: ClientPacket, from pipe: NetworkPipe) {
        perform { [self] in handle(packet, from: pipe) }
    }

    private func handle(_ packet: ClientPacket, from pipe: NetworkPipe) {
        guard let entry = pipes[ObjectIdentifier(pipe)] else { return }
        if case .connect(let hello) = packet { return accept(hello, pipe) }
        guard let identifier = entry.identifier else { return }
        sessions[identifier]?.lastHeard = world.now
        switch packet {
        case .connect: break
        case .publish(let number, let message):
            publish(message, from: identifier, pipe.process)
            if message.qos == .atLeastOnce { pipe.deliver(.acknowledged(number, 0)) }
        case .acknowledge(let number):
            if let index = sessions[identifier]?.inFlight.firstIndex(where: { $0.identifier == number }),
                let message = sessions[identifier]?.inFlight.remove(at: index).outgoing.message
            {
                world.oracle.acknowledged(message, by: identifier, pipe.process)
            }
            send(identifier)
        case .subscribe(let number, let filters, let qos):
            subscribers = [:]
            for filter in filters {
                sessions[identifier]?.subscriptions.removeAll { $0.filter == filter }
                sessions[identifier]?.subscriptions.append((filter, qos))
            }
            pipe.deliver(.subscribed(number, filters.map { _ in qos.rawValue }))
            for topic in retained.keys.sorted() where filters.contains(where: { $0.matches(topic) }) {
                if let message = retained[topic] { enqueue(message, to: identifier, at: qos) }
            }
            send(identifier)
        case .unsubscribe(let filter):
            subscribers = [:]
            sessions[identifier]?.subscriptions.removeAll { $0.filter == filter }
        case .ping: pipe.deliver(.pong)
        case .disconnect:
            pipes[ObjectIdentifier(pipe)] = nil
            leave(identifier, publishesWill: false)
            pipe.hangUp()
        }
    }

    private func accept(_ hello: ClientPacket.Hello, _ pipe: NetworkPipe) {
        let reason = refusesVersion5 && hello.version == .v5 ? 0x84 : refusal
        if let reason {
            pipe.deliver(.refused(reason))
            pipe.hangUp()
            pipes[ObjectIdentifier(pipe)] = nil
            return
        }
        let identifier = hello.identifier
        if let old = sessions[identifier]?.pipe {
            if sessions[identifier]?.hello.version == .v5 { old.deliver(.disconnect(0x8E)) }
            old.hangUp()
            pipes[ObjectIdentifier(old)] = nil
            leave(identifier, publishesWill: true)
        }
        if hello.isCleanStart || sessions[identifier] == nil { subscribers = [:] }
        if hello.isCleanStart { sessions[identifier] = nil }
        let isPresent = sessions[identifier] != nil
        var session = sessions[identifier] ?? Session(pipe: nil, hello: hello, lastHeard: world.now)
        session.pipe = pipe
        session.hello = hello
        session.lastHeard = world.now
        session.generation += 1
        sessions[identifier] = session
        pipes[ObjectIdentifier(pipe)] = (pipe, identifier)
        pipe.deliver(.accepted(isSessionPresent: isPresent))
        world.oracle.connected(identifier)
        checkKeepAlive(identifier, session.generation)
        send(identifier)
    }

    private func leave(_ identifier: String, publishesWill: Bool) {
        guard let session = sessions[identifier], session.pipe != nil else { return }
        sessions[identifier]?.pipe = nil
        sessions[identifier]?.generation += 1
        requeue(identifier)
        // One that only discards a session may be replaced before its DISCONNECT arrives.
        let discards =
            session.hello.isCleanStart && (session.hello.version == .v311 || session.hello.sessionExpiry == .zero)
        world.oracle.disconnected(identifier, isRequested: !publishesWill || discards)
        if publishesWill, let will = session.hello.will { publish(will, from: identifier, nil) }
        if session.hello.version == .v311, session.hello.isCleanStart { return sessions[identifier] = nil }
        expireLater(identifier)
    }

    private func requeue(_ identifier: String) {
        guard let session = sessions[identifier] else { return }
        sessions[identifier]?.queue = session.inFlight.map(\.outgoing) + session.queue
        sessions[identifier]?.inFlight = []
    }

    private func expireLater(_ identifier: String) {
        guard let session = sessions[identifier], session.pipe == nil else { return }
        let generation = session.generation
        world.after(session.hello.version == .v5 ? session.hello.sessionExpiry : .seconds(86_400)) { [self] in
            guard let session = sessions[identifier], session.generation == generation, session.pipe == nil else {
                return
            }
            sessions[identifier] = nil
        }
    }

    private func checkKeepAlive(_ identifier: String, _ generation: Int) {
        guard let session = sessions[identifier], session.generation == generation, let pipe = session.pipe else {
            return
        }
        let due = session.lastHeard + session.hello.keepAlive * 3 / 2
        guard due <= world.now, !isStalled else {
            return world.at(max(due, world.now + .seconds(1))) { [self] in checkKeepAlive(identifier, generation) }
        }
        pipe.hangUp()
        pipes[ObjectIdentifier(pipe)] = nil
        leave(identifier, publishesWill: true)
    }

    // MARK: Messages

    /// Accepts a message of another client. Nothing happens while the broker does not run.
    func inject(_ message: MQTTMessage) {
        perform { [self] in publish(message, from: "tester", nil) }
    }

    private func publish(_ message: MQTTMessage, from identifier: String, _ process: BridgeProcess?) {
        if let process {
            world.schedule?.published(message)
            world.oracle.published(message, by: identifier, process)
        } else {
            world.trace("\(identifier) \(message.topic)")
        }
        if message.isRetained { retained[message.topic] = message.payload.isEmpty ? nil : message }
        for (receiver, qos) in receivers(of: message.topic) {
            guard let session = sessions[receiver] else { continue }
            var copy = message
            // Retain as published; 3.1.1 has no such option.
            if session.hello.version == .v311 { copy.isRetained = false }
            if session.hello.version == .v311 {
                (copy.responseTopic, copy.correlationData, copy.messageExpirySeconds) = (nil, nil, nil)
            }
            enqueue(copy, to: receiver, at: qos)
            send(receiver)
        }
    }

    private func receivers(of topic: String) -> [(identifier: String, qos: MQTTQoS)] {
        if let known = subscribers[topic] { return known }
        let found = sessions.keys.sorted().compactMap { identifier -> (identifier: String, qos: MQTTQoS)? in
            let subscription = sessions[identifier]?.subscriptions.first { $0.filter.matches(topic) }
            return subscription.map { (identifier, $0.qos) }
        }
        subscribers[topic] = found
        return found
    }

    private func enqueue(_ message: MQTTMessage, to identifier: String, at qos: MQTTQoS) {
        guard let session = sessions[identifier] else { return }
        var copy = message
        copy.qos = message.qos == .atLeastOnce && qos == .atLeastOnce ? .atLeastOnce : .atMostOnce
        if copy.qos == .atMostOnce {
            session.pipe?.deliver(.publish(0, copy))
            return
        }
        guard session.queue.count < Self.mostQueued else { return world.oracle.dropped(copy, of: identifier) }
        let expires = message.messageExpirySeconds.map { world.now + .seconds(Int64($0)) }
        sessions[identifier]?.queue.append(Outgoing(message: copy, expires: expires))
    }

    private func send(_ identifier: String) {
        guard let pipe = sessions[identifier]?.pipe else { return }
        while let session = sessions[identifier], session.inFlight.count < Self.mostInFlight, !session.queue.isEmpty {
            let outgoing = session.queue[0]
            sessions[identifier]?.queue.removeFirst()
            if let expires = outgoing.expires, expires <= world.now {
                world.oracle.dropped(outgoing.message, of: identifier)
                continue
            }
            let number = session.lastIdentifier + 1
            sessions[identifier]?.lastIdentifier = number
            sessions[identifier]?.inFlight.append((number, outgoing))
            var message = outgoing.message
            if let expires = outgoing.expires {
                message.messageExpirySeconds = UInt32(max(1, (expires - world.now).components.seconds))
            }
            pipe.deliver(.publish(number, message))
        }
    }
}
