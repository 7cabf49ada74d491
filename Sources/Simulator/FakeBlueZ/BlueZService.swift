public import DBus
public import EventLoop
public import Logging

/// A faithful `org.bluez` on any bus, with devices that exist in this process only.
///
/// What bluetoothd 5.66 answers, signals and forgets, this does too, in the same order and with the same texts. It can
/// crash: everything but the bonds is gone then, and its name on the bus with it.
@LoopActor
public final class BlueZService {
    /// Called when the bus itself has gone.
    public var onBusLost: (() -> Void)?

    /// Its faults.
    public let faults = BlueZFaults()
    /// Called with the member and the path of each call that a client makes.
    public var onCall: ((_ member: String, _ path: String) -> Void)?

    private let address: String
    private let peripherals: [any SimulatedPeripheral]
    private let options: BlueZOptions
    private let log: Logger
    private var storages: [AdapterStorage]
    private var daemon: BluetoothDaemon?

    /// How many adapters there are, including those that are unplugged.
    public var adapterCount: Int { storages.count }

    /// Prepares it; nothing is on the bus yet.
    ///
    /// - Parameters:
    ///   - address: of the bus.
    ///   - peripherals: all devices that there are.
    ///   - adapters: how many adapters there are, `hci0` and on. All of them are in reach of all devices.
    ///   - options: how it behaves.
    ///   - log: the destination of warnings and errors.
    public init(
        bus address: String, peripherals: [any SimulatedPeripheral], adapters: Int = 1,
        options: BlueZOptions = BlueZOptions(),
        log: Logger
    ) {
        self.address = address
        self.peripherals = peripherals
        self.options = options
        self.log = log
        storages = Array(repeating: AdapterStorage(), count: adapters)
        faults.onCrash = { [weak self] in EventLoop.shared.atEndOfTurn { self?.crash() } }
    }

    /// Comes onto the bus, at first or after a crash.
    ///
    /// - Throws: `DBusError` when the bus is not there, or another process owns `org.bluez` on it.
    public func start() async throws(DBusError) {
        guard daemon == nil else { return }
        let connection = try await DBusConnection.open(address, log: log)
        connection.onDisconnect = { [weak self] in self?.onBusLost?() }
        let daemon = BluetoothDaemon(
            on: connection, peripherals: peripherals, storages: storages, options: options, faults: faults,
            onCall: { [weak self] call in self?.onCall?(call.member, call.path) }
        ) { [weak self] number, storage in
            self?.storages[number] = storage
        }
        self.daemon = daemon
        try await daemon.start()
    }

    /// Pulls an adapter out of the machine, or plugs it in again.
    public func setPlugged(_ isPlugged: Bool, adapter number: Int) {
        guard let daemon, daemon.adapters.indices.contains(number) else { return }
        daemon.setPlugged(isPlugged, adapter: daemon.adapters[number])
    }

    /// Ends every discovery, as a reset of the controller does.
    public func endDiscovery() {
        daemon?.adapters.forEach { $0.endDiscovery() }
    }

    /// Closes every descriptor of AcquireNotify and AcquireWrite, without a signal.
    public func closeDescriptors() {
        for device in daemon?.adapters.flatMap(\.devices) ?? [] { device.closeDescriptors() }
    }

    /// Whether a user of the bus has marked a device as trusted.
    ///
    /// - Parameter address: of the device, on any adapter.
    /// - Returns: false also if there is no such device.
    public func isTrusted(_ address: String) -> Bool {
        daemon?.adapters.flatMap(\.devices).contains { $0.peripheral.address == address && $0.isTrustedByUser } ?? false
    }

    /// Removes every device from the bus without telling that a link has gone before.
    public func removeDevices() {
        for adapter in daemon?.adapters ?? [] {
            for device in adapter.devices {
                adapter.remove(device)
                // No more signals are sent.
                device.dropLink()
            }
        }
    }

    /// Dies as a crashed bluetoothd does: links break, calls stay without an answer, the name is free.
    public func crash() {
        daemon?.die()
        daemon = nil
    }

    /// Switches an adapter on or off, as a user does with `bluetoothctl power`.
    ///
    /// - Parameters:
    ///   - isOn: on or off.
    ///   - number: of the adapter; nil stands for all.
    public func setPowered(_ isOn: Bool, adapter number: Int? = nil) {
        guard let daemon else {
            for index in storages.indices where number == nil || number == index { storages[index].isPowered = isOn }
            return
        }
        for (index, adapter) in daemon.adapters.enumerated() where number == nil || number == index {
            adapter.setPowered(isOn)
        }
    }
}
