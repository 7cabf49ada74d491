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
    /// The central of the running bridge.
    weak var client: SimulatedCentral?
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
        return isPowered ? .poweredOn : .poweredOff
    }

    var adapters: [Adapter] {
        guard isDaemonUp else { return [] }
        return [
            Adapter(
                id: "hci0", address: BluetoothAddress("00:00:00:00:00:0\(number + 1)"), state: state,
                isDiscovering: client?.isScanning ?? false, connectedCount: links.count)
        ]
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
        return { [self] in
            takenByOthers.remove(tag.address)
            link.end(nil)
        }
    }

    /// A link has ended.
    func ended(_ link: RadioLink, _ error: BluetoothError?) {
        links.removeAll { $0 === link }
        client?.linkEnded(link, error)
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

    private func stateChanged() {
        world.disturbed()
        client?.hostStateChanges()
        if state != .poweredOn { for link in links { link.end(nil) } }
        client?.hostStateChanged()
    }
}
