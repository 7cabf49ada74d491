public import ESPHome
public import EventLoop
public import FakeBlueZ
import Glibc
public import Logging

/// A fake ESP32 with the Bluetooth proxy of ESPHome, on a TCP port of the loopback interface, with devices that exist
/// in this process only.
@LoopActor
public final class ProxyServer {
    /// Called with each message of a client. For tests.
    public var onMessage: ((ProxyMessage) -> Void)?
    /// The number of clients that have a TCP connection.
    public var clientCount: Int { clients.count }

    let options: ProxyOptions
    let peripherals: [any SimulatedPeripheral]
    let log: Logger
    private var slots: Int
    private var listener: CInt = -1
    private var source: DescriptorSource?
    private var clients: [ProxyClient] = []
    private(set) weak var subscriber: ProxyClient?
    private(set) var isSilent = false
    private var isTaken = false
    private(set) var links: [ProxyDeviceLink] = []
    /// The addresses of devices with a bond.
    public internal(set) var bonds: Set<String> = []
    /// The addresses of devices that have lost their half of the bond.
    public var lostBonds: Set<String> = []
    private lazy var advertisingTimer = LoopTimer { [unowned self] in advertise() }

    /// Prepares the proxy. It does not listen before ``start(port:)``.
    public init(_ peripherals: [any SimulatedPeripheral], options: ProxyOptions = ProxyOptions(), log: Logger) {
        self.peripherals = peripherals
        self.options = options
        self.log = log
        slots = options.slots
    }

    /// Listens.
    ///
    /// - Parameter port: the port of 127.0.0.1.
    /// - Throws: `SystemError` if the port is in use.
    public func start(port: UInt16) throws(SystemError) {
        listener = socket(
            AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var yes: CInt = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard listener >= 0, isBound, listen(listener, 16) == 0 else {
            throw SystemError.last("listen on 127.0.0.1 port \(port)")
        }
        source = try DescriptorSource(listener, for: [.readable]) { [weak self] _ in self?.accept() }
        advertisingTimer.arm(after: options.advertisingInterval)
    }

    /// Closes everything.
    public func stop() {
        advertisingTimer.disarm()
        for client in clients { client.close() }
        source?.cancel()
        source = nil
        if listener >= 0 { close(listener) }
        listener = -1
    }

    /// Starts a fault, performs it, or ends all faults.
    public func inject(_ fault: ProxyFault) {
        switch fault {
        case .drop: for client in clients { client.close() }
        case .silent: isSilent = true
        case .taken:
            isTaken = true
            subscriber = nil
            endLinks()
        case .slots(let count): slots = count
        case .clear:
            (isSilent, isTaken, slots) = (false, false, options.slots)
            for client in clients { client.resume() }
        }
        source?.events = isSilent ? [] : [.readable]
        sendConnectionsFree()
    }

    // MARK: Clients

    private func accept() {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        if let client = try? ProxyClient(descriptor, of: self) {
            clients.append(client)
        } else {
            close(descriptor)
        }
    }

    /// Handles the end of a client. Its links end with it.
    func ended(_ client: ProxyClient) {
        clients.removeAll { $0 === client }
        guard subscriber === client else { return }
        subscriber = nil
        endLinks()
    }

    func subscribe(_ client: ProxyClient) {
        guard !isTaken, subscriber == nil || subscriber === client || options.servesNewest else {
            return log.error("Only one API subscription is allowed at a time")
        }
        subscriber = client
        client.send(.scannerState(.running))
    }

    func unsubscribe(_ client: ProxyClient) {
        guard subscriber === client else { return }
        subscriber = nil
        endLinks()
    }

    /// Sends a message to the client that is subscribed.
    func send(_ message: ProxyMessage) {
        subscriber?.send(message)
    }

    /// The number of free links, in the form of the message.
    var connectionsFree: ProxyMessage {
        .connectionsFree(
            free: UInt32(max(0, slots - links.count)), limit: UInt32(slots), allocated: links.map(\.number))
    }

    func sendConnectionsFree() {
        send(connectionsFree)
    }

    // MARK: Devices

    func link(_ number: UInt64) -> ProxyDeviceLink? {
        links.first { $0.number == number }
    }

    /// Handles a request about a device, whichever client has sent it.
    func handle(_ number: UInt64, _ request: DeviceRequest, addressType: UInt32?) {
        switch request {
        case .connect, .connectWithCache: connect(number, addressType: addressType)
        case .disconnect:
            if let link = link(number) { return link.disconnect() }
            send(.connection(number, isConnected: false, mtu: 0, error: 0))
            sendConnectionsFree()
        case .pair: link(number)?.pair()
        case .unpair:
            let wasBonded = bonds.remove(Self.text(number)) != nil
            // ESPHome 2026.6 sends this message.
            send(.paired(number, isPaired: wasBonded, error: wasBonded ? 0 : 1))
        case .clearCache: break
        }
    }

    private func connect(_ number: UInt64, addressType: UInt32?) {
        if let link = link(number) { return link.connectAgain() }
        guard links.count < slots, addressType != nil else {
            return send(.connection(number, isConnected: false, mtu: 0, error: 0))
        }
        let peripheral = peripherals.first { $0.address == Self.text(number) }
        links.append(ProxyDeviceLink(number, peripheral, of: self))
        sendConnectionsFree()
    }

    /// Frees the slot of a link.
    func release(_ link: ProxyDeviceLink, error: Int32) {
        guard links.contains(where: { $0 === link }) else { return }
        links.removeAll { $0 === link }
        send(.connection(link.number, isConnected: false, mtu: 0, error: error))
        sendConnectionsFree()
    }

    private func endLinks() {
        for link in links { link.disconnect() }
    }

    private func advertise() {
        advertisingTimer.arm(after: options.advertisingInterval)
        guard subscriber != nil, !isSilent else { return }
        let all = peripherals.compactMap { peripheral in
            peripheral.broadcast(at: options.adapterNumber).map { broadcast in
                RawAdvertisement(
                    address: Self.number(peripheral.address), rssi: Int32(broadcast.rssi), addressType: 1,
                    data: broadcast.structures)
            }
        }
        if !all.isEmpty { send(.advertisements(all)) }
    }

    /// The address of a number, such as `F0:00:00:00:00:01`.
    static func text(_ number: UInt64) -> String { ProxyAddress.text(number) }
    /// The number of an address.
    static func number(_ text: String) -> UInt64 { ProxyAddress.number(text) }
}
