public import Bluetooth
import DBus
public import EventLoop
public import Logging

/// A central over `org.bluez`: one adapter of BlueZ behind the seam.
///
/// It keeps a copy of BlueZ's objects by their signals and follows the service itself: when bluetoothd or the bus goes,
/// every link is told as lost, and when it comes back everything is read anew. No call is without a deadline.
@LoopActor
public final class BlueZCentral: Central {
    /// Which adapter to use.
    public enum AdapterChoice: Hashable, Sendable {
        /// The first that is switched on, else the first.
        case automatic
        /// The one with this name of the kernel, such as `hci0`.
        case named(String)
        /// The one with this address.
        case address(BluetoothAddress)
    }

    /// Who is told what happens.
    public var onEvent: ((CentralEvent) -> Void)?

    let log: Logger
    let choice: AdapterChoice
    let busAddress: String
    var bus: DBusConnection?
    var tree = ObjectTree()
    /// The path of the adapter in use; nil while there is none.
    var adapter: String?
    /// The name of the adapter in use, such as `hci0`; nil while there is none.
    public var adapterID: String? { adapter.map(Self.name) }
    var state = CentralState.unknown
    var peripherals: [BluetoothAddress: Peripheral] = [:]
    var connects = ConnectQueue()
    /// The device whose `Connect` is under way. One at a time: BlueZ makes them one after another anyway, and a second one
    /// would only wait in its queue and time out there.
    var connecting: BluetoothAddress?
    var discovery = Discovery()
    /// Characteristics that notify by signal, because `AcquireNotify` was refused: whose they are.
    var notifying: [String: (address: BluetoothAddress, characteristic: BluetoothUUID)] = [:]
    /// Who may pair when it asks for it.
    var expected: Set<BluetoothAddress> = []
    private lazy var agent = PairingAgent(log: log) { [unowned self] path in
        tree.devices[path]?.address.map(expected.contains) ?? false
    }
    private var subscriptions: [DBusSubscription] = []
    private var owner: String?
    private var adapters: [Adapter] = []
    private lazy var reopening = LoopTimer { [unowned self] in
        EventLoop.shared.begin { await self.open() }
    }
    private var reopenings = 0
    lazy var connectTimer = LoopTimer { [unowned self] in connectNext() }
    lazy var discoveryTimer = LoopTimer { [unowned self] in updateDiscovery() }

    /// The version of BlueZ is not told on the bus; bluetoothd's own binary is asked elsewhere.
    ///
    /// - Parameters:
    ///   - busAddress: of the bus that BlueZ is on.
    ///   - adapter: which adapter to use.
    ///   - log: where trouble is told.
    public init(busAddress: String, adapter: AdapterChoice = .automatic, log: Logger) {
        self.busAddress = busAddress
        choice = adapter
        self.log = log
    }

    /// Connects to the bus and begins to tell what happens.
    public func start() async {
        await open()
    }

    /// Drops all links and waits until they are down, at most for the given time; then leaves the bus.
    public func stop(within limit: Duration = .seconds(3)) async {
        onEvent = nil
        reopening.disarm()
        connectTimer.disarm()
        discoveryTimer.disarm()
        await leave(within: limit)
        bus?.close()
        bus = nil
    }

    /// Does something, or begins to.
    public func perform(_ request: CentralRequest) {
        switch request {
        case .scan(let options):
            discovery.wish = options
            updateDiscovery()
        case .connect(let address): connect(address)
        case .disconnect(let address): disconnect(address)
        case .pair(let address): pair(address)
        case .forget(let address): forget(address)
        case .acceptPairing(from: let addresses): expected = addresses
        case .discover(let service, let characteristics, of: let address):
            discover(service, characteristics, of: address)
        case .subscribe(let characteristic, of: let address): subscribe(characteristic, of: address)
        case .write(let value, to: let characteristic, of: let address, let type):
            write(value, to: characteristic, of: address, type)
        }
    }

    // MARK: The bus

    private func open() async {
        do throws(DBusError) {
            let bus = try await DBusConnection.open(busAddress, log: log)
            self.bus = bus
            reopenings = 0
            bus.onDisconnect = { [weak self] in self?.busLost() }
            follow(bus)
        } catch {
            if reopenings == 0 {
                log.error("cannot reach the system bus", [(.endpoint, busAddress), (.error, error.description)])
            }
            setState(
                error.name.hasSuffix("AccessDenied") || error.name.hasSuffix("AuthFailed") ? .unauthorized : .unknown)
            reopenLater()
        }
    }

    private func busLost() {
        log.warning("the system bus has gone", [(.endpoint, busAddress)])
        subscriptions = []
        bus = nil
        serviceLost()
        reopenLater()
    }

    private func reopenLater() {
        reopenings += 1
        reopening.arm(after: min(.milliseconds(500) * (1 << min(reopenings - 1, 6)), .seconds(30)))
    }

    /// Rules first, then the present state: what changes in between is told by a signal.
    private func follow(_ bus: DBusConnection) {
        subscriptions = [
            bus.subscribe(
                to: DBusMatchRule(
                    sender: BlueZNames.service, interface: BlueZNames.objectManager, member: "InterfacesAdded")
            ) { [unowned self] in interfacesAdded($0) },
            bus.subscribe(
                to: DBusMatchRule(
                    sender: BlueZNames.service, interface: BlueZNames.objectManager, member: "InterfacesRemoved")
            ) { [unowned self] in interfacesRemoved($0) },
            bus.subscribe(
                to: DBusMatchRule(
                    sender: BlueZNames.service, interface: BlueZNames.properties, member: "PropertiesChanged",
                    pathNamespace: BlueZNames.tree)
            ) { [unowned self] in propertiesChanged($0) },
            bus.watchName(BlueZNames.service) { [unowned self] in ownerChanged($0) },
        ]
    }

    private func ownerChanged(_ owner: String?) {
        guard owner != self.owner else { return }
        if self.owner != nil { serviceLost() }
        self.owner = owner
        guard owner != nil else {
            log.notice("bluetoothd is not running")
            return
        }
        if let bus { agent.register(on: bus) }
        load()
    }

    private func serviceLost() {
        owner = nil
        tree = ObjectTree()
        adapter = nil
        loseAll(BluetoothError(.connectionFailed, text: "bluetoothd has gone"))
        setState(.resetting)
        publishAdapters()
    }

    private func load() {
        let asked = owner
        call(.call(to: BlueZNames.service, BlueZNames.root, BlueZNames.objectManager, "GetManagedObjects")) {
            [weak self] result in
            guard let self, asked == owner else { return }
            switch result {
            case .success(let message): loaded(message)
            case .failure(let error):
                log.error("BlueZ does not tell its objects", [(.error, error.description)])
                setState(error.name.hasSuffix("AccessDenied") ? .unauthorized : .unknown)
            }
        }
    }

    private func loaded(_ message: DBusMessage) {
        guard case .dictionary(let objects, _, _)? = message.arguments.first else { return }
        for (path, interfaces) in objects {
            for (name, values) in interfaces.textKeyed ?? [:] {
                tree.apply(values.textKeyed ?? [:], to: path.text ?? "", name)
            }
        }
        adapterChanged()
        for path in tree.devices.keys.sorted() { heard(path) }
    }

    // MARK: Signals

    private func interfacesAdded(_ message: DBusMessage) {
        let arguments = message.arguments
        guard arguments.count == 2, let path = arguments[0].text, let interfaces = arguments[1].textKeyed else {
            return
        }
        for (name, values) in interfaces { tree.apply(values.textKeyed ?? [:], to: path, name) }
        if interfaces[BlueZNames.adapter] != nil { adapterChanged() }
        if interfaces[BlueZNames.device] != nil {
            heard(path)
            deviceChanged(path)
            publishAdapters()
        }
        if interfaces[BlueZNames.gattCharacteristic] != nil { finishDiscoveries() }
    }

    private func interfacesRemoved(_ message: DBusMessage) {
        let arguments = message.arguments
        guard arguments.count == 2, let path = arguments[0].text, let names = arguments[1].textArray else { return }
        let device = tree.devices[path]
        tree.remove(names, of: path)
        if names.contains(BlueZNames.adapter) { adapterChanged() }
        // BlueZ need not say `Connected=false` before.
        if names.contains(BlueZNames.device), let address = device?.address, device?.adapter == adapter {
            publishAdapters()
            lost(address, BluetoothError(.notFound, text: "BlueZ has removed the device"))
        }
    }

    private func propertiesChanged(_ message: DBusMessage) {
        var reader = DBusReader(message)
        if reader.isString("org.bluez.GattCharacteristic1") { return valueChanged(message) }
        let arguments = message.arguments
        guard
            arguments.count == 3, let interface = arguments[0].text, let values = arguments[1].textKeyed
        else { return }
        let path = message.path
        // A change of an object that was never told is of one that is gone.
        guard tree.contains(path, interface) else { return }
        tree.apply(values, to: path, interface)
        tree.invalidate(arguments[2].textArray ?? [], of: path, interface)
        switch interface {
        case BlueZNames.adapter: adapterChanged()
        case BlueZNames.device:
            if values["RSSI"] != nil || values["ManufacturerData"] != nil { heard(path) }
            deviceChanged(path)
            if values["Connected"] != nil { publishAdapters() }
        default: break
        }
    }

    // MARK: State

    func setState(_ new: CentralState) {
        guard new != state else { return }
        state = new
        onEvent?(.stateChanged(new))
    }

    private func adapterChanged() {
        let chosen = chooseAdapter()
        if chosen != adapter {
            loseAll(BluetoothError(.poweredOff, text: "the adapter has gone"))
            discovery.reset()
            adapter = chosen
        }
        let isPowered = chosen.flatMap { tree.adapters[$0] }?.isPowered
        if isPowered != true {
            loseAll(BluetoothError(.poweredOff, text: "the adapter is switched off"))
            discovery.reset()
        }
        publishAdapters()
        setState(isPowered.map { $0 ? .poweredOn : .poweredOff } ?? .unsupported)
        if let chosen { discovery.isReported = tree.adapters[chosen]?.isDiscovering ?? false }
        updateDiscovery()
        connectNext()
    }

    /// The adapter in use stays in use as long as it is there: links and bonds are tied to it.
    private func chooseAdapter() -> String? {
        let paths = tree.adapters.keys.sorted()
        switch choice {
        case .automatic:
            if let adapter, tree.adapters[adapter]?.isPowered == true { return adapter }
            return paths.first { tree.adapters[$0]?.isPowered == true } ?? paths.first
        case .named(let name): return paths.first { $0.hasSuffix("/" + name) }
        case .address(let address): return paths.first { tree.adapters[$0]?.address == address }
        }
    }

    func publishAdapters() {
        let present = tree.adapters.sorted { $0.key < $1.key }.map { path, object in
            Adapter(
                id: Self.name(of: path),
                address: object.address,
                state: object.isPowered ? .poweredOn : .poweredOff,
                isDiscovering: object.isDiscovering,
                connectedCount: tree.devices.values.count { $0.adapter == path && $0.isConnected })
        }
        guard present != adapters else { return }
        adapters = present
        onEvent?(.adaptersChanged(present))
    }

    private static func name(of adapter: String) -> String {
        String(adapter.split(separator: "/").last ?? "")
    }

    /// Calls a method of BlueZ; without a bus it fails like any call on a lost one.
    func call(
        _ message: DBusMessage, within limit: Duration = .seconds(10),
        completion: @escaping (Result<DBusMessage, DBusError>) -> Void
    ) {
        guard let bus else {
            EventLoop.shared.atEndOfTurn { completion(.failure(.disconnected)) }
            return
        }
        bus.call(message, within: limit, completion: completion)
    }
}
