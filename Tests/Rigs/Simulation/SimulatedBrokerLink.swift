import EventLoop
import MQTT
import MQTTTypes

/// A link to the simulated broker, with the behaviour of libmosquitto: packets are queued until they are written, and
/// messages above the number that may be in flight wait.
@LoopActor
final class SimulatedBrokerLink: BrokerLink {
    private let world: World
    private let process: BridgeProcess
    private let hello: ClientPacket.Hello
    private let pipe: NetworkPipe
    private var queue: [ClientPacket] = []
    private var waiting: [ClientPacket] = []
    private var inFlight: Set<Int32> = []
    private var lastIdentifier: Int32 = 0
    private var signals: [BrokerLinkSignal] = []
    private var verdict: MQTTError?
    private var isOpen = false
    private var socket: SimulatedSocket?
    /// The largest number of QoS 1 messages in flight, as mosquitto's default receive maximum.
    private static let mostInFlight = 20

    init(_ world: World, _ process: BridgeProcess, _ configuration: MQTTConfiguration, _ plan: BrokerLinkPlan) {
        self.world = world
        self.process = process
        hello = ClientPacket.Hello(
            identifier: configuration.clientIdentifier, isCleanStart: plan.isCleanStart, version: plan.version,
            keepAlive: configuration.keepAlive, sessionExpiry: plan.isDiscardOnly ? .zero : configuration.sessionExpiry,
            will: plan.isDiscardOnly ? nil : configuration.will)
        pipe = NetworkPipe(world, process, to: configuration.nodes.first?.host ?? "")
        // A process that was killed says nothing more, also while its service stops.
        queue = process.isDead ? [] : [.connect(hello)]
        process.links.append(WeakLink(link: self))
    }

    var descriptor: Int32 { isOpen ? 3 : -1 }
    var wantsToWrite: Bool { isOpen && !queue.isEmpty }

    func open(
        _ configuration: MQTTConfiguration, through choice: AddressChoice
    ) async throws(MQTTError) -> BrokerLinkOpening {
        await world.pause(world.draw(.microseconds(100), .milliseconds(3)))
        guard !world.isResolverDown else { throw MQTTError(.nameNotResolved, "simulated") }
        isOpen = true
        return .pending
    }

    func watch(
        _ handler: @escaping @LoopActor (DescriptorSource.Events) -> Void
    ) throws(SystemError) -> any BrokerSocket {
        let socket = SimulatedSocket(pipe, handler)
        self.socket = socket
        pipe.connect()
        return socket
    }

    func abandon() {}
    func stopListeningToLog() {}

    func disconnect() {
        queue.append(.disconnect)
    }

    func read() -> BrokerLinkOutcome {
        for packet in pipe.read() { receive(packet) }
        if pipe.isHungUp { isOpen = false }
        return .success
    }

    func write() -> BrokerLinkOutcome {
        while isOpen, pipe.hasRoom, !queue.isEmpty {
            let packet = queue.removeFirst()
            pipe.send(packet)
            switch packet {
            case .disconnect: isOpen = false
            case .publish(let identifier, let message) where message.qos == .atMostOnce:
                signals.append(.published(identifier, MQTTReasonCode(rawValue: 0)))
            default: break
            }
        }
        return .success
    }

    func probe() -> BrokerLinkOutcome {
        queue.append(.ping)
        return .success
    }

    func takeSignals(_ body: @LoopActor (BrokerLinkSignal) -> Void) {
        let taken = signals
        signals = []
        for signal in taken { body(signal) }
    }

    func error(for status: Int32, errno: Int32) -> MQTTError {
        verdict ?? MQTTError(.connectionLost, "the simulated connection was lost")
    }

    func publish(_ message: MQTTMessage, _ version: MQTTVersion) throws(MQTTError) -> Int32 {
        world.oracle.submitted(by: process)
        lastIdentifier += 1
        let packet = ClientPacket.publish(lastIdentifier, message)
        if message.qos == .atMostOnce {
            queue.append(packet)
        } else if inFlight.count < Self.mostInFlight {
            inFlight.insert(lastIdentifier)
            queue.append(packet)
        } else {
            waiting.append(packet)
        }
        return lastIdentifier
    }

    func subscribe(to filters: [MQTTTopicFilter], _ qos: MQTTQoS) throws(MQTTError) -> Int32 {
        lastIdentifier += 1
        queue.append(.subscribe(lastIdentifier, filters, qos))
        return lastIdentifier
    }

    func unsubscribe(from filter: MQTTTopicFilter) throws(MQTTError) {
        queue.append(.unsubscribe(filter))
    }

    /// The process is killed: the kernel closes its sockets.
    func kill() {
        isOpen = false
        pipe.close()
    }

    private func receive(_ packet: BrokerPacket) {
        switch packet {
        case .accepted(let isSessionPresent):
            signals.append(
                .accepted(
                    isSessionPresent: isSessionPresent, keepAlive: nil,
                    receiveMaximum: hello.version == .v5 ? UInt16(Self.mostInFlight) : nil))
        case .refused(let number):
            verdict = MQTTReasonCode(rawValue: number).error("the broker refuses the connection")
        case .publish(let identifier, let message):
            signals.append(.message(message))
            if message.qos == .atLeastOnce { queue.append(.acknowledge(identifier)) }
        case .acknowledged(let identifier, let reason):
            guard inFlight.remove(identifier) != nil else { return }
            signals.append(.published(identifier, MQTTReasonCode(rawValue: reason)))
            guard !waiting.isEmpty, case .publish(let next, _) = waiting[0] else { return }
            inFlight.insert(next)
            queue.append(waiting.removeFirst())
        case .subscribed(let identifier, let reasons):
            signals.append(.subscribed(identifier, reasons.map { MQTTReasonCode(rawValue: $0) }))
        case .pong: break
        case .disconnect(let number):
            verdict = MQTTReasonCode(rawValue: number).error("the broker ends the connection")
        }
    }

    isolated deinit {
        pipe.close()
    }
}

/// A link that its connection owns.
struct WeakLink {
    weak let link: SimulatedBrokerLink?
}

/// The client's socket.
@LoopActor
final class SimulatedSocket: BrokerSocket {
    private let pipe: NetworkPipe

    init(_ pipe: NetworkPipe, _ handler: @escaping @LoopActor (DescriptorSource.Events) -> Void) {
        self.pipe = pipe
        pipe.onReady = handler
    }

    var events: DescriptorSource.Events = .writable {
        didSet { if events.contains(.writable), !oldValue.contains(.writable) { pipe.wake() } }
    }

    func takeFailure() -> Int32 { pipe.failure }

    isolated deinit {
        pipe.onReady = nil
    }
}
