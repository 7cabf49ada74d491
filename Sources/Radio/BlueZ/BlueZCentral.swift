public import Bluetooth
import DBus
public import EventLoop
public import Logging
import Time

/// A central that uses one adapter of BlueZ through `org.bluez`.
///
/// It keeps a copy of BlueZ's objects, updated by their signals. When bluetoothd or the bus ends, it reports every link
/// as lost; when the service is back, it reads all objects again. Every call has a deadline.
@LoopActor
public final class BlueZCentral: Central {
    /// Called with each request before it is performed; nil unless the traffic is recorded.
    public var onRequest: ((CentralRequest) -> Void)?

    private let choice: AdapterChoice
    let context: CentralContext
    let reset: AdapterReset
    let discovery: AdapterDiscovery
    let sessions = NotifySessions()
    let pairing: DevicePairing
    let links: Links
    /// The adapters, as last reported.
    private var adapters: [Adapter]?
    private var reportedFault: AdapterFault?

    /// Creates a central. It does nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - busAddress: the address of BlueZ's bus.
    ///   - adapter: which adapter to use.
    ///   - resetAdapter: whether the adapter may be switched off and on if it receives nothing for a long time,
    ///     restarts of discovery have not helped, and nothing is connected through it.
    ///   - log: the logger.
    public convenience init(
        busAddress: String, adapter: AdapterChoice = .automatic, resetAdapter: Bool = false, log: Logger
    ) {
        self.init(busAddress: busAddress, adapter: adapter, resetAdapter: resetAdapter, timing: Timing(), log: log)
    }

    init(busAddress: String, adapter: AdapterChoice, resetAdapter: Bool, timing: Timing, log: Logger) {
        choice = adapter
        context = CentralContext(BlueZConnection(to: busAddress, timing, log: log), timing, log: log)
        reset = AdapterReset(context, isAllowed: resetAdapter)
        discovery = AdapterDiscovery(context, reset)
        pairing = DevicePairing(context)
        links = Links(context, pairing, sessions)
        context.connection.onEvent = { [weak self] in self?.handle($0) }
        discovery.onHeard = { [weak links] in links?.heard($0) }
        links.onAttemptChange = { [weak discovery] in discovery?.update() }
        discovery.onRefusal = { [weak self] in self?.reportFault() }
    }

    /// The event handler.
    public var onEvent: ((CentralEvent) -> Void)? {
        get { context.onEvent }
        set { context.onEvent = newValue }
    }

    /// The name of the adapter in use, such as `hci0`; nil while there is none.
    public var adapterID: String? { context.adapter.map(Self.name) }

    /// Why Bluetooth cannot be used, or not fully; nil if it can, or while that is not known.
    public var fault: AdapterFault? {
        let connection = context.connection
        if context.state == .unauthorized { return .notPermitted }
        if let error = connection.openingError { return .busUnreachable(error.description) }
        guard connection.isOpen else { return nil }
        guard connection.isServed else { return .serviceStopped }
        guard connection.isLoaded else { return nil }
        guard let adapter = context.adapter else { return missingAdapter }
        guard context.state == .poweredOn else { return .poweredOff(Self.name(of: adapter)) }
        return discovery.refusals.error.map(AdapterFault.discoveryRefused)
    }

    private var missingAdapter: AdapterFault {
        let present = context.connection.tree.adapters.sorted { $0.key < $1.key }.map { path, object in
            [Self.name(of: path), object.address?.description].compactMap(\.self).joined(separator: " ")
        }
        switch choice {
        case .named(let wanted) where !present.isEmpty: return .otherAdaptersOnly(wanted: wanted, present: present)
        case .address(let wanted) where !present.isEmpty:
            return .otherAdaptersOnly(wanted: wanted.description, present: present)
        case .automatic, .named, .address: return .noAdapter
        }
    }

    /// Whether the bus is open. After ``start()`` false means that it cannot be reached; further attempts follow.
    public var hasBus: Bool { context.connection.isOpen }

    /// The state of the adapter in use. It has changed before links that it ends are reported.
    public var state: CentralState { context.state }

    /// The address of the adapter that this central, or one of an earlier process, has switched off to reset it. Set it
    /// before ``start()`` to the last value of ``onReset``: the adapter is then switched on.
    public var switchedOff: BluetoothAddress? {
        get { reset.address }
        set { reset.address = newValue }
    }

    /// Called and awaited before an adapter is switched off to reset it, and called with nil when it is on again.
    public var onReset: (@LoopActor (BluetoothAddress?) async -> Void)? {
        get { reset.onChange }
        set { reset.onChange = newValue }
    }

    /// The devices whose links an earlier run of this program has made and may not have ended. Set it before ``start()``: such a
    /// link is used if its device is to be connected, and ended otherwise.
    public var formerLinks: Set<BluetoothAddress> {
        get { links.former.addresses }
        set { links.former = FormerLinks(newValue) }
    }

    /// After ``stop(within:)``: the devices whose links may still exist.
    public var remainingLinks: Set<BluetoothAddress> { links.remaining }

    /// The adapters of the same bus that other radios of this program use. Set it before ``start()``: the links that an earlier
    /// run has made through them are theirs.
    public var otherRadios: [AdapterChoice] {
        get { links.otherRadios }
        set { links.otherRadios = newValue }
    }

    /// Connects to the bus and starts reporting events. Call it once.
    public func start() async {
        await context.connection.open()
    }

    /// Delivers the values that BlueZ has passed on by descriptor and that were not read yet. Call it before ``stop(within:)``,
    /// after which nothing is delivered.
    public func deliverReceived() {
        links.drain()
    }

    /// Disconnects all devices and waits for it, at most for the given time. Then closes the bus, which ends discovery
    /// and removes the pairing agent.
    public func stop(within limit: Duration = .seconds(3)) async {
        guard !context.isStopped else { return }
        context.isStopped = true
        onEvent = nil
        context.connection.stop()
        discovery.stop()
        links.stop()
        reset.stop()
        await links.leave(within: limit)
        context.connection.close()
    }

    /// Performs a request, or starts it.
    public func perform(_ request: CentralRequest) {
        guard !context.isStopped else { return }
        onRequest?(request)
        switch request {
        case .scan(let service): discovery.scan(for: service)
        case .watch(let service): discovery.watch(for: service)
        case .connect(let address): links.connect(address)
        case .disconnect(let address): links.disconnect(address)
        case .pair(let address): pairing.pair(links[address], address)
        case .forget(let address): links.forget(address)
        case .beginPairing, .checkBond, .endPairing: break
        case .acceptPairing(from: let addresses): pairing.accepted = addresses
        case .discover(let service, let characteristics, of: let address):
            guard let peripheral = links.linked(address) else {
                return context.reportLater(.discoveryFailed(address, .notConnected))
            }
            peripheral.discover(service, characteristics)
        case .subscribe(let characteristic, of: let address):
            guard let (peripheral, path) = links.locate(characteristic, of: address) else {
                return context.reportLater(.subscribeFailed(address, characteristic, .characteristicMissing))
            }
            peripheral.subscribe(characteristic, path)
        case .write(let value, to: let characteristic, of: let address, let type):
            guard let (peripheral, path) = links.locate(characteristic, of: address) else {
                return context.reportLater(.writeFailed(address, .characteristicMissing))
            }
            peripheral.write(value, to: path, type)
        }
    }

    // MARK: BlueZ's changes

    private func handle(_ event: BlueZConnection.Event) {
        switch event {
        case .unusable(let isRefused):
            setState(isRefused ? .unauthorized : .unknown)
            publishAdapters()
        case .appeared(let owner, let bus): pairing.register(with: owner, on: bus)
        case .gone(let isAbsent, let wasRunning):
            if isAbsent, wasRunning || context.state == .unknown { context.log.notice("bluetoothd is not running") }
            serviceLost(wasRunning: wasRunning)
        case .loaded:
            adapterChanged()
            discovery.publishDevices()
        case .added(let path, let interfaces): added(path, interfaces)
        case .removed(let path, let interfaces, let device): removed(path, interfaces, device)
        case .changed(let path, let interface, let values): changed(path, interface, values)
        case .linkEnded(let path, let reason): links.linkEnded(path, because: reason)
        }
    }

    private func serviceLost(wasRunning: Bool) {
        reportFault()
        if wasRunning {
            links.serviceLost()
            discovery.serviceLost()
        }
        sessions.serviceLost()
        use(nil, .resetting, BluetoothError(.connectionFailed, text: "bluetoothd has gone", end: .local))
    }

    private func added(_ path: String, _ interfaces: Set<String>) {
        if interfaces.contains(BlueZNames.adapter) { adapterChanged() }
        if interfaces.contains(BlueZNames.device) {
            discovery.publishBonds()
            discovery.heard(path)
            links.deviceChanged(path)
            publishAdapters()
        }
        if interfaces.contains(BlueZNames.gattCharacteristic) { links.characteristicAdded(path) }
    }

    private func removed(_ path: String, _ interfaces: [String], _ device: ObjectTree.DeviceObject?) {
        if interfaces.contains(BlueZNames.gattCharacteristic) { sessions.own.remove(path) }
        if interfaces.contains(BlueZNames.adapter) { adapterChanged() }
        guard interfaces.contains(BlueZNames.device), let device, device.adapter == context.adapter else { return }
        publishAdapters()
        discovery.publishBonds()
        if let address = device.address { links.deviceRemoved(address) }
    }

    private func changed(_ path: String, _ interface: String, _ values: [String: DBusValue]) {
        switch interface {
        case BlueZNames.adapter: adapterChanged()
        case BlueZNames.device:
            if values["Paired"] != nil { discovery.publishBonds() }
            let isAnnounced = values["RSSI"] != nil || values["ManufacturerData"] != nil
            if isAnnounced || isForeignLink(path, values) { discovery.heard(path) }
            links.deviceChanged(path)
            if values["Connected"] != nil { publishAdapters() }
        case BlueZNames.gattCharacteristic:
            guard let address = context.connection.tree.address(ofCharacteristic: path) else { return }
            links[address]?.characteristicChanged(path, values)
        default: break
        }
    }

    /// Whether another program has connected a device. A connected device does not advertise.
    private func isForeignLink(_ path: String, _ values: [String: DBusValue]) -> Bool {
        guard values["Connected"]?.flag == true, let address = context.connection.tree.devices[path]?.address
        else { return false }
        return links[address] == nil
    }

    // MARK: The adapter

    private func setState(_ new: CentralState) {
        guard new != context.state else { return reportFault() }
        context.state = new
        reportFault()
        context.report(.stateChanged(new))
    }

    private func reportFault() {
        let new = fault
        guard new != reportedFault else { return }
        reportedFault = new
        context.report(.faultChanged(new))
    }

    /// Handles an adapter that was added, removed or changed.
    func adapterChanged() {
        let known = context.connection.tree.adapters
        let chosen = choice.path(among: known, inUse: context.adapter)
        let object = chosen.flatMap { known[$0] }
        let isPresent = context.adapter.flatMap { known[$0] } != nil
        use(
            chosen, object.map { $0.isPowered ? .poweredOn : .poweredOff } ?? .unsupported,
            BluetoothError(.poweredOff, text: isPresent ? "the adapter is switched off" : "the adapter has gone"))
        reset.resume()
        if let object { discovery.adapterReports(isDiscovering: object.isDiscovering) }
        discovery.update()
        links.connectNext()
    }

    /// Changes the adapter or its state.
    ///
    /// - Parameters:
    ///   - chosen: the path of the adapter; nil if there is none.
    ///   - new: its state.
    ///   - error: the error of links through the previous adapter, or through this one if it is no longer usable.
    private func use(_ chosen: String?, _ new: CentralState, _ error: BluetoothError) {
        let (old, hasMoved) = (context.state, chosen != context.adapter)
        // Set before any event is sent: the handler of a lost link may make requests.
        (context.adapter, context.state) = (chosen, new)
        reportFault()
        if hasMoved || (old == .poweredOn && new != .poweredOn) {
            discovery.adapterLost()
            links.endAll(error)
        }
        publishAdapters()
        // Bonds are reported before anything can be connected.
        if chosen != nil { discovery.publishBonds() }
        // Only signals change the state, so the handlers above have not.
        if new != old { context.report(.stateChanged(new)) }
        discovery.reportScanning()
    }

    private func publishAdapters() {
        let present = context.state == .unauthorized ? [refusedAdapter] : presentAdapters
        guard present != adapters else { return }
        adapters = present
        context.report(.adaptersChanged(present))
    }

    /// The adapter that would be used. Without access to BlueZ, nothing else is known about it.
    private var refusedAdapter: Adapter {
        let (id, address): (String, BluetoothAddress?) =
            switch choice {
            case .automatic: ("unknown", nil)
            case .named(let name): (name, nil)
            case .address(let address): ("unknown", address)
            }
        return Adapter(id: id, address: address, state: .unauthorized, isDiscovering: false, connectedCount: 0)
    }

    private var presentAdapters: [Adapter] {
        context.connection.tree.adapters.sorted { $0.key < $1.key }.map { path, object in
            Adapter(
                id: Self.name(of: path),
                address: object.address,
                state: object.isPowered ? .poweredOn : .poweredOff,
                isDiscovering: object.isDiscovering,
                connectedCount: context.connection.tree.connectedCount(of: path))
        }
    }

    private static func name(of adapter: String) -> String {
        String(adapter.split(separator: "/").last ?? "")
    }
}
