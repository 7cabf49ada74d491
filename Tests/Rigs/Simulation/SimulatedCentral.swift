import Bluetooth
import Daemon
import EventLoop
import JacquardProtocol
import TagFirmware
import Time

/// The central of one process of a bridge, with the promises of `Central`.
@LoopActor
final class SimulatedCentral: @LoopActor BridgeCentral {
    let fault: AdapterFault? = nil
    private enum Phase {
        case waiting, connecting, linked, disconnecting
    }

    private final class Device {
        var phase = Phase.waiting
        var link: RadioLink?
        var isWriting = false
        /// When the bridge has last sent a value.
        var lastWrite = Instant(sinceBoot: .zero)
        /// The characteristics whose notifications are on.
        var subscribed: Set<BluetoothUUID> = []
        let address: BluetoothAddress

        init(_ address: BluetoothAddress) {
            self.address = address
        }
    }

    var onEvent: ((CentralEvent) -> Void)?
    var onRequest: ((CentralRequest) -> Void)?
    var switchedOff: BluetoothAddress?
    var onReset: (@LoopActor (BluetoothAddress?) async -> Void)?

    private let world: World
    private let host: HostRadio
    private let process: BridgeProcess
    private var devices: [BluetoothAddress: Device] = [:]
    /// The devices that wait for an attempt, the next first.
    private var waiting: [BluetoothAddress] = []
    private var attempt: Device?
    private var isAttemptPlanned = false
    private var scan: BluetoothUUID?
    private(set) var isScanning = false
    private var isScanPlanned = false
    private var isStarted = false
    private var isStopped = false
    private var reported: CentralState?
    /// Values that have reached the host and are not read yet, with their order.
    private var unread: [(link: RadioLink, event: CentralEvent, mark: GestureMark?)] = []

    init(_ world: World, _ host: HostRadio, _ process: BridgeProcess) {
        self.world = world
        self.host = host
        self.process = process
        host.add(self, of: process.number)
    }

    /// Whether this process has connected a tag.
    func isLinked(_ tag: AirTag) -> Bool {
        devices[tag.address].map { $0.link != nil && $0.link === tag.link } ?? false
    }

    /// Whether this process has a link with a device.
    func isLinked(_ address: BluetoothAddress) -> Bool {
        devices[address].map { $0.link != nil && $0.link === host.link(address) } ?? false
    }

    /// When this process has last sent a value to a tag.
    func lastWrite(to tag: AirTag) -> Instant? { devices[tag.address]?.lastWrite }

    var adapterID: String? { host.adapterID }

    var state: CentralState { host.state }

    private var isUsable: Bool { isStarted && !isStopped && host.state == .poweredOn }

    // MARK: Life

    @LoopActor func start() async {
        await world.pause(world.draw(.milliseconds(2), .milliseconds(80)))
        guard !isStopped else { return }
        isStarted = true
        hostStateChanged()
        for link in host.links { hear(link.tag, isConnected: true) }
        planAttempt()
    }

    func deliverReceived() {
        readValues()
    }

    @LoopActor func stop(within limit: Duration) async {
        guard !isStopped else { return }
        isStopped = true
        onEvent = nil
        let links = devices.keys.sorted { $0.description < $1.description }.compactMap { devices[$0]?.link }
        guard host.state == .poweredOn, !links.isEmpty else { return }
        for link in links { link.drop(after: world.draw(.milliseconds(20), .milliseconds(300))) }
        await world.pause(min(limit, .milliseconds(320)))
    }

    /// The process is killed. Its links stay.
    func kill() {
        isStopped = true
        onEvent = nil
        host.remove(self)
    }

    private func report(_ event: CentralEvent) {
        guard !isStopped else { return }
        if case .notified = event {
        } else {
            world.trace("host=\(host.number) \(event.word)")
            if let tag = event.device.flatMap({ world.tag(at: $0) }) { world.disturbed(tag) }
        }
        onEvent?(event)
    }

    /// Reports an event in a later turn, unless the central is stopped or the device's link has changed.
    private func later(_ device: Device, within limit: Duration, _ body: @escaping @LoopActor () -> Void) {
        let link = device.link
        world.after(world.draw(.milliseconds(1), limit)) { [self] in
            guard !isStopped, devices[device.address] === device, device.link === link, host.isDaemonUp else { return }
            body()
        }
    }

    // MARK: State of the host

    /// Bluetooth becomes unusable: all links and attempts end first.
    func hostStateChanges() {
        guard isStarted, !isStopped, host.state != .poweredOn else { return }
        attempt = nil
        for address in devices.keys.sorted(by: { $0.description < $1.description }) {
            guard let device = devices[address] else { continue }
            lost(device, BluetoothError(.poweredOff, text: "simulated"))
        }
    }

    func hostStateChanged() {
        guard isStarted, !isStopped else { return }
        if isScanning, host.state != .poweredOn {
            isScanning = false
            report(.scanning(false))
        }
        report(.adaptersChanged(host.adapters))
        if host.state != reported {
            reported = host.state
            report(.stateChanged(host.state))
        }
        if host.state == .poweredOn { report(.bonds(host.bonds)) }
        planAttempt()
        updateScan()
    }

    // MARK: Requests

    func perform(_ request: CentralRequest) {
        guard !isStopped else { return }
        onRequest?(request)
        switch request {
        case .scan(let service):
            scan = service
            updateScan()
        case .watch, .acceptPairing, .beginPairing, .checkBond, .endPairing: break
        case .connect(let address): connect(address)
        case .disconnect(let address): disconnect(address)
        case .pair(let address): pair(address)
        case .forget(let address): forget(address)
        case .discover(_, let characteristics, of: let address): discover(characteristics, address)
        case .subscribe(let uuid, of: let address): subscribe(uuid, address)
        case .write(let value, to: let uuid, of: let address, _): write(value, uuid, address)
        }
    }

    private func connect(_ address: BluetoothAddress) {
        guard devices[address] == nil else { return }
        devices[address] = Device(address)
        waiting.append(address)
        planAttempt()
    }

    private func disconnect(_ address: BluetoothAddress) {
        guard let device = devices[address], device.phase != .disconnecting else { return }
        let phase = device.phase
        device.phase = .disconnecting
        waiting.removeAll { $0 == address }
        switch phase {
        case .waiting, .disconnecting: later(device, within: .milliseconds(2)) { [self] in lost(device, nil) }
        case .connecting:
            later(device, within: .milliseconds(400)) { [self] in
                lost(device, nil)
                attemptEnded(device)
            }
        case .linked:
            // A link that ends meanwhile by itself is reported as requested.
            device.link?.drop(after: world.draw(.milliseconds(15), .milliseconds(250)))
            if let tag = device.link?.tag {
                tag.history.linkEnded = world.now
                if !process.isStopping { world.oracle.disconnects(tag) }
                world.people.linkEnds(of: tag)
            }
        }
    }

    private func lost(_ device: Device, _ error: BluetoothError?) {
        guard devices[device.address] === device else { return }
        readValues(of: device.link)
        guard devices[device.address] === device else { return }
        devices[device.address] = nil
        waiting.removeAll { $0 == device.address }
        report(.disconnected(device.address, device.phase == .disconnecting ? nil : error))
    }

    /// A link of the host has ended.
    func linkEnded(_ link: RadioLink, _ error: BluetoothError?) {
        guard !isStopped, let device = devices[link.tag.address], device.link === link else { return }
        lost(device, error ?? BluetoothError(.connectionFailed, text: "the link was lost"))
    }

    // MARK: Attempts

    /// A tag has begun or stopped to be heard.
    func airChanged() {
        if !waiting.isEmpty { planAttempt() }
        updateScan()
    }

    private func planAttempt() {
        guard !isAttemptPlanned, attempt == nil, !waiting.isEmpty else { return }
        isAttemptPlanned = true
        // A tag is heard at its next advertisements.
        world.after(world.draw(.milliseconds(20), .milliseconds(1_500))) { [self] in
            isAttemptPlanned = false
            attemptNext()
        }
    }

    private func attemptNext() {
        guard isUsable, attempt == nil else { return }
        let next = waiting.first { address in
            host.link(address) != nil
                || world.tag(at: address).map { $0.isAdvertising && $0.isReceivable(by: host) } ?? false
        }
        guard let address = next, let device = devices[address] else { return }
        waiting.removeAll { $0 == address }
        // An attempt follows an advertisement, which is reported first.
        if let tag = world.tag(at: address), host.link(address) == nil { hear(tag) }
        guard devices[address] === device, device.phase == .waiting, attempt == nil else { return planAttempt() }
        attempt = device
        if let old = host.link(address) {
            if host.isUsed(address, besides: self) {
                attempt = nil
                lost(device, BluetoothError(.inUse, text: "another program on this host uses the device"))
                return planAttempt()
            }
            device.phase = .connecting
            // A link of a killed process is replaced.
            old.drop(after: world.draw(.milliseconds(15), .milliseconds(250)))
        }
        device.phase = .connecting
        world.trace("host=\(host.number) connecting \(address)")
        let isFault = host.isFault()
        let wait =
            isFault ? world.draw(.seconds(2), .seconds(40)) : world.draw(.milliseconds(300), .milliseconds(1_800))
        world.after(wait) { [self] in finishAttempt(device, isFault: isFault) }
    }

    private func finishAttempt(_ device: Device, isFault: Bool) {
        guard !isStopped, attempt === device, devices[device.address] === device, device.phase == .connecting else {
            return
        }
        defer { attemptEnded(device) }
        guard !isFault, let tag = world.tag(at: device.address), tag.isAdvertising, tag.isReceivable(by: host) else {
            return lost(device, BluetoothError(.connectionFailed, name: "org.bluez.Error.Failed", text: "simulated"))
        }
        if host.bonds.contains(tag.address), !tag.bonds.contains(host.number) {
            return lost(
                device,
                BluetoothError(
                    .authenticationFailed, name: "org.bluez.Error.AuthenticationFailed", text: "the bond is lost"))
        }
        // The link follows an advertisement, with the present name.
        hear(tag)
        guard attempt === device, devices[device.address] === device, device.phase == .connecting else { return }
        let link = RadioLink(world, host, tag)
        let mtu = [23, 50, 64, 247][Int(world.random.next() % 4)]
        device.link = link
        device.phase = .linked
        host.add(link)
        world.trace("link up host=\(host.number) \(tag.serial)")
        world.disturbed(tag)
        tag.connected(link, mtu: mtu)
        report(.connected(device.address))
        guard device.phase == .linked, devices[device.address] === device else { return }
        report(.mtuChanged(device.address, mtu))
    }

    private func attemptEnded(_ device: Device) {
        guard attempt === device else { return }
        attempt = nil
        planAttempt()
        updateScan()
    }

    // MARK: GATT

    private func linked(_ address: BluetoothAddress) -> Device? {
        devices[address].flatMap { $0.phase == .linked ? $0 : nil }
    }

    private static let busy = BluetoothError(.other, name: "org.bluez.Error.Failed", text: "simulated")
    private static let silence = BluetoothError(.timeout, text: "no answer in time")
    private static let missing = BluetoothError(.notFound, text: "the device is not connected")

    private func discover(_ characteristics: [BluetoothUUID], _ address: BluetoothAddress) {
        guard let device = linked(address) else {
            return world.after(.zero) { [self] in
                report(.discoveryFailed(address, Self.missing))
            }
        }
        if host.isFault() {
            return world.after(.seconds(30)) { [self] in
                guard linked(address) === device else { return }
                report(.discoveryFailed(address, BluetoothError(.serviceMissing, text: "simulated")))
            }
        }
        device.link?.exchange { [self] in
            later(device, within: .milliseconds(400)) { [self] in
                let found = characteristics.map { uuid -> (BluetoothUUID, CharacteristicProperties) in
                    (uuid, uuid == World.uuid(.command) ? [.write, .writeWithoutResponse] : .notify)
                }
                report(.characteristicsDiscovered(address, Dictionary(found) { first, _ in first }))
            }
        }
    }

    private func subscribe(_ uuid: BluetoothUUID, _ address: BluetoothAddress) {
        guard let device = linked(address), let channel = World.channel(uuid) else {
            return world.after(.zero) { [self] in report(.subscribeFailed(address, uuid, Self.missing)) }
        }
        if host.isFault() {
            let error = world.random.next() % 2 == 0 ? Self.busy : Self.silence
            return later(device, within: .seconds(6)) { [self] in report(.subscribeFailed(address, uuid, error)) }
        }
        device.link?.exchange { [self] in
            device.link?.tag.subscribed(channel)
            device.link?.exchange { [self] in
                later(device, within: .milliseconds(5)) { [self] in
                    device.subscribed.insert(uuid)
                    report(.subscribed(address, uuid))
                }
            }
        }
    }

    private func write(_ value: [UInt8], _ uuid: BluetoothUUID, _ address: BluetoothAddress) {
        guard let device = linked(address), let channel = World.channel(uuid) else {
            return world.after(.zero) { [self] in report(.writeFailed(address, Self.missing)) }
        }
        if TagCharacteristic.allCases.contains(where: { $0 != .command && !device.subscribed.contains(World.uuid($0)) })
        {
            world.oracle.violated("a write to \(address) before all notifications are on")
        }
        if process.isStopping { world.oracle.violated("a write to \(address) after the decision to stop") }
        if device.isWriting { world.oracle.violated("a second write to \(address) before the end of the first one") }
        device.lastWrite = world.now
        device.isWriting = true
        if host.isFault() {
            let error = world.random.next() % 2 == 0 ? Self.busy : Self.silence
            return later(device, within: .seconds(10)) { [self] in
                device.isWriting = false
                report(.writeFailed(address, error))
            }
        }
        device.link?.exchange { [self] in
            device.link?.tag.write(value, on: channel)
            device.link?.exchange { [self] in
                guard !isStopped, linked(address) === device else { return }
                device.isWriting = false
                report(.written(address))
            }
        }
    }

    /// A value has reached the host: the process reads it in a later turn.
    func notified(_ value: [UInt8], on channel: TagCharacteristic, over link: RadioLink, mark: GestureMark?) {
        guard !isStopped, devices[link.tag.address]?.link === link else { return }
        unread.append((link, .notified(link.tag.address, World.uuid(channel), value), mark))
        world.after(.zero) { [self] in readValues() }
    }

    /// Passes on the values that have reached the host.
    private func readValues(of link: RadioLink? = nil) {
        while !isStopped, let index = unread.firstIndex(where: { link == nil || $0.link === link }) {
            let (link, event, mark) = unread.remove(at: index)
            guard devices[link.tag.address]?.link === link else { continue }
            if let mark { process.oracle.passedOn(mark) }
            report(event)
        }
    }

    // MARK: Bonds

    private func pair(_ address: BluetoothAddress) {
        guard let device = linked(address) else {
            return world.after(.zero) { [self] in report(.pairFailed(address, Self.missing)) }
        }
        let isFault = host.isFault()
        later(device, within: .seconds(3)) { [self] in
            guard !isFault else { return report(.pairFailed(address, Self.busy)) }
            host.bonds.insert(address)
            world.tag(at: address)?.bonds.insert(host.number)
            bondsChanged()
            report(.paired(address))
        }
    }

    /// Every program on the host sees the bonds.
    private func bondsChanged() {
        for client in host.clients { client.report(.bonds(host.bonds)) }
    }

    private func forget(_ address: BluetoothAddress) {
        disconnect(address)
        world.after(world.draw(.milliseconds(300), .milliseconds(900))) { [self] in
            guard !isStopped else { return }
            guard host.state == .poweredOn else {
                return report(.forgotten(address, BluetoothError(.poweredOff, text: "simulated")))
            }
            host.bonds.remove(address)
            bondsChanged()
            report(.forgotten(address, nil))
        }
    }

    // MARK: Scan

    private func updateScan() {
        guard !isStopped, isStarted else { return }
        if (scan != nil && isUsable) != isScanning {
            world.after(world.draw(.milliseconds(1), .milliseconds(50))) { [self] in
                let isWanted = scan != nil && isUsable
                guard !isStopped, isScanning != isWanted else { return }
                isScanning = isWanted
                report(.scanning(isWanted))
                report(.adaptersChanged(host.adapters))
                planHearing()
            }
        }
        planHearing()
    }

    private func planHearing() {
        guard isScanning, !isScanPlanned else { return }
        isScanPlanned = true
        world.after(world.draw(.milliseconds(300), .milliseconds(3_000))) { [self] in
            isScanPlanned = false
            guard isScanning, !isStopped else { return }
            // The scan pauses during an attempt.
            if attempt == nil {
                for tag in world.tags where tag.isAdvertising && tag.isReceivable(by: host) { hear(tag) }
            }
            planHearing()
        }
    }

    private func hear(_ tag: AirTag, isConnected: Bool = false) {
        guard !isStopped else { return }
        let advertisement =
            isConnected
            ? Advertisement(
                name: tag.firmware.name,
                manufacturerData: [
                    PairingSerial.companyIdentifier: tag.firmware.identity.serial.manufacturerData
                ], rssi: nil, isPaired: host.bonds.contains(tag.address),
                isConnected: true) : tag.advertisement(heardBy: host)
        if let advertisement { onEvent?(.discovered(tag.address, advertisement)) }
    }
}

extension CentralEvent {
    /// The device that the event is about.
    fileprivate var device: BluetoothAddress? {
        switch self {
        case .connected(let address), .disconnected(let address, _), .paired(let address), .pairFailed(let address, _),
            .forgotten(let address, _), .characteristicsDiscovered(let address, _), .discoveryFailed(let address, _),
            .mtuChanged(let address, _), .subscribed(let address, _), .subscribeFailed(let address, _, _),
            .written(let address), .writeFailed(let address, _):
            address
        case .stateChanged, .faultChanged, .adaptersChanged, .scanning, .discovered, .remembered, .bonds, .notified: nil
        }
    }

    /// The event in a few words, for the trace.
    fileprivate var word: String { String(String(describing: self).prefix(110)) }
}
