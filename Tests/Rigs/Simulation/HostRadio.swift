import Bluetooth
import EventLoop
import Time

/// BlueZ and the adapter of one host: they survive the processes of the bridge.
@LoopActor
final class HostRadio {
    /// How far a tag is received, in metres.
    static let range = 10.0

    private let world: World
    let number: Int
    let place: Double
    var bonds: Set<BluetoothAddress> = []
    /// The links of the host, whichever program made them, in the order of their beginning.
    private(set) var links: [RadioLink] = []
    /// Devices whose link another program of the host uses.
    var takenByOthers: Set<BluetoothAddress> = []
    private(set) var isPowered = true
    private(set) var isDaemonUp = true
    /// Whether there is an adapter.
    private(set) var isPlugged = true
    /// The number of the adapter: another one that is plugged in has the next number.
    private var adapterNumber = 0
    /// The latest central of each bridge, by its number.
    private var latestClients: [(bridge: Int, client: WeakCentral)] = []
    /// The centrals that exist.
    var clients: [SimulatedCentral] { latestClients.compactMap(\.client.central) }
    /// Faults of requests that are drawn.
    var faultRate = 0.0
    /// Until when the bridge may wait for requests that fail.
    var troubledUntil = Instant(sinceBoot: .zero)

    init(_ world: World, number: Int, place: Double) {
        self.world = world
        self.number = number
        self.place = place
    }

    var state: CentralState {
        if !isDaemonUp { return .resetting }
        if !isPlugged { return .unsupported }
        return isPowered ? .poweredOn : .poweredOff
    }

    var adapters: [Adapter] {
        guard let adapterID else { return [] }
        return [
            Adapter(
                id: adapterID, address: BluetoothAddress("00:00:00:00:0\(adapterNumber % 10):0\(number + 1)"),
                state: state, isDiscovering: clients.contains { $0.isScanning }, connectedCount: links.count)
        ]
    }

    /// The name of the adapter; nil while there is none.
    var adapterID: String? { isDaemonUp && isPlugged ? "hci\(adapterNumber)" : nil }

    /// Adds the central of a bridge in place of its former one.
    func add(_ client: SimulatedCentral, of bridge: Int) {
        latestClients.removeAll { $0.bridge == bridge }
        latestClients.append((bridge, WeakCentral(central: client)))
    }

    /// Removes the central of a killed process.
    func remove(_ client: SimulatedCentral) {
        latestClients.removeAll { $0.client.central === client }
    }

    /// Whether another program than a bridge's process uses the link of a device.
    func isUsedByAnother(_ address: BluetoothAddress, than host: BridgeHost) -> Bool {
        host.process?.central.map { isUsed(address, besides: $0) } ?? false
    }

    /// Whether another program than this one uses the link of a device.
    func isUsed(_ address: BluetoothAddress, besides client: SimulatedCentral) -> Bool {
        takenByOthers.contains(address) || clients.contains { $0 !== client && $0.isLinked(address) }
    }

    func link(_ address: BluetoothAddress) -> RadioLink? { links.first { $0.tag.address == address } }

    func add(_ link: RadioLink) {
        links.append(link)
    }

    /// Another program of the host connects a tag, if it can.
    ///
    /// - Returns: ends the link.
    func connectElsewhere(_ tag: AirTag) -> @LoopActor () -> Void {
        guard state == .poweredOn, tag.link == nil, tag.isAdvertising, tag.isReceivable(by: self) else { return {} }
        let link = RadioLink(world, self, tag)
        takenByOthers.insert(tag.address)
        add(link)
        tag.connected(link, mtu: 64)
        tag.history.usedElsewhere = world.now
        return { [self] in
            tag.history.usedElsewhere = world.now
            takenByOthers.remove(tag.address)
            link.end(nil)
        }
    }

    /// A link has ended.
    func ended(_ link: RadioLink, _ error: BluetoothError?) {
        links.removeAll { $0 === link }
        for client in clients { client.linkEnded(link, error) }
    }

    /// Whether a fault of a request is drawn.
    func isFault() -> Bool { faultRate > 0 && Double.random(in: 0..<1, using: &world.random) < faultRate }

    func setPowered(_ isPowered: Bool) {
        guard isPowered != self.isPowered else { return }
        self.isPowered = isPowered
        stateChanged()
    }

    /// bluetoothd ends, or starts again. Its links end, and calls in progress get no answer.
    func setDaemon(isUp: Bool) {
        guard isUp != isDaemonUp else { return }
        isDaemonUp = isUp
        stateChanged()
    }

    /// Removes the adapter. Its links end.
    func unplug() {
        guard isPlugged else { return }
        isPlugged = false
        stateChanged()
    }

    /// Plugs an adapter in: the old one, or another one, which has no bonds.
    func plug(isOther: Bool) {
        guard !isPlugged else { return }
        isPlugged = true
        if isOther {
            adapterNumber += 1
            bonds = []
        }
        stateChanged()
    }

    private func stateChanged() {
        world.disturbed()
        for client in clients { client.hostStateChanges() }
        if state != .poweredOn { for link in links { link.end(nil) } }
        for client in clients { client.hostStateChanged() }
    }
}

/// A central that its process owns.
private struct WeakCentral {
    weak var central: SimulatedCentral?
}
