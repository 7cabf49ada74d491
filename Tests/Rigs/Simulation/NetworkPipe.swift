import EventLoop
import Time

/// A TCP connection between a bridge and the broker. Each direction keeps its order.
@LoopActor
final class NetworkPipe {
    /// The state of the connection.
    enum State {
        case connecting, open, closed
    }

    private let world: World
    private(set) var state = State.connecting
    /// Whether packets get lost until the network is back, as behind a router without power.
    private var isCut: Bool { world.isNetworkCut || world.cutBridges.contains(process.instance) }
    private var lastUp = Instant(sinceBoot: .zero)
    private var lastDown = Instant(sinceBoot: .zero)
    /// Packets that wait for the network.
    private var delayed: [@LoopActor () -> Void] = []
    /// Set by the client.
    var onReady: (@LoopActor (DescriptorSource.Events) -> Void)?
    /// Packets that the client has not read.
    private(set) var received: [BrokerPacket] = []
    /// Whether the broker, or the network, has closed the connection.
    private(set) var isHungUp = false
    /// The result of the TCP handshake, as `errno`.
    private(set) var failure: Int32 = 0
    /// The number of packets on their way to the broker; the socket accepts no more than ``capacity``.
    private var inFlight = 0
    private static let capacity = 200

    /// The client.
    let process: BridgeProcess
    /// The node of the broker.
    let node: String

    init(_ world: World, _ process: BridgeProcess, to node: String) {
        self.process = process
        self.node = node
        self.world = world
    }

    /// Whether the socket accepts another packet.
    var hasRoom: Bool { state == .open && inFlight < Self.capacity && !world.broker.isFull }

    // MARK: Client

    /// Begins the TCP handshake.
    func connect() {
        let wait = world.draw(.microseconds(200), .milliseconds(30))
        world.after(wait) { [self] in
            guard state == .connecting else { return }
            if isCut { return delayed.append { [self] in connect() } }
            guard world.broker.accepts(node) else {
                failure = 111
                state = .closed
                isHungUp = true
                onReady?([.hangUp, .error, .writable])
                return
            }
            state = .open
            world.broker.add(self)
            onReady?(.writable)
        }
    }

    /// Sends a packet to the broker.
    func send(_ packet: ClientPacket) {
        guard state == .open else { return }
        inFlight += 1
        transmit { [self] in
            inFlight -= 1
            if state == .open { world.broker.received(packet, from: self) }
        } after: {
            lastUp = max(lastUp + .nanoseconds(1), world.now + world.draw(.microseconds(100), .milliseconds(5)))
            return lastUp
        }
    }

    /// Closes the client's end. The broker notices it later.
    func close() {
        guard state != .closed else { return }
        let wasOpen = state == .open
        state = .closed
        onReady = nil
        guard wasOpen else { return }
        transmit { [self] in
            world.broker.lost(self)
        } after: {
            lastUp = max(lastUp + .nanoseconds(1), world.now + world.draw(.microseconds(100), .milliseconds(5)))
            return lastUp
        }
    }

    /// Removes the packets that have arrived.
    func read() -> [BrokerPacket] {
        defer { received = [] }
        return received
    }

    /// Reports that the socket has room again.
    func wake() {
        guard state == .open else { return }
        world.after(.zero) { [self] in if hasRoom { onReady?(.writable) } }
    }

    // MARK: Broker

    /// Sends a packet to the client.
    func deliver(_ packet: BrokerPacket) {
        guard state == .open else { return }
        transmit { [self] in
            guard state == .open else { return }
            received.append(packet)
            onReady?(.readable)
        } after: {
            lastDown = max(lastDown + .nanoseconds(1), world.now + world.draw(.microseconds(100), .milliseconds(5)))
            return lastDown
        }
    }

    /// The broker closes the connection.
    func hangUp() {
        guard state == .open else { return }
        transmit { [self] in
            guard state == .open else { return }
            state = .closed
            isHungUp = true
            onReady?([.readable, .hangUp])
        } after: {
            lastDown = max(lastDown + .nanoseconds(1), world.now + world.draw(.microseconds(100), .milliseconds(5)))
            return lastDown
        }
    }

    /// Calls a function when a packet arrives: at the given time, or when the network is back.
    private func transmit(_ body: @escaping @LoopActor () -> Void, after arrival: () -> Instant) {
        guard !isCut, delayed.isEmpty else { return delayed.append(body) }
        world.at(arrival(), body)
    }

    /// The network is back: TCP repeats what was lost.
    func networkIsBack() {
        guard !isCut else { return }
        let waiting = delayed
        delayed = []
        for body in waiting {
            lastUp = max(
                lastUp + .nanoseconds(1), lastDown + .nanoseconds(1),
                world.now + world.draw(.milliseconds(1), .milliseconds(200)))
            lastDown = lastUp
            world.at(lastUp, body)
        }
    }
}
