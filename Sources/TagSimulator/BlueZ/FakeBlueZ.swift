public import DBus
public import EventLoop
public import Logging

/// A faithful `org.bluez` on any bus, with devices that exist in this process only.
///
/// What bluetoothd 5.66 answers, signals and forgets, this does too, in the same order and with the same texts. It can
/// crash: everything but the bonds is gone then, and its name on the bus with it.
@LoopActor
public final class FakeBlueZ {
    /// Called when the bus itself has gone.
    public var onBusLost: (() -> Void)?

    private let address: String
    private let peripherals: [any Peripheral]
    private let options: BlueZOptions
    private let log: Logger
    private var storages: [AdapterStorage]
    private var daemon: BluetoothDaemon?

    /// Prepares it; nothing is on the bus yet.
    ///
    /// - Parameters:
    ///   - address: of the bus.
    ///   - peripherals: all devices that there are.
    ///   - adapters: how many adapters there are, `hci0` and on. All of them are in reach of all devices.
    ///   - options: how it behaves.
    ///   - log: where trouble is told.
    public init(
        bus address: String, peripherals: [any Peripheral], adapters: Int = 1, options: BlueZOptions = BlueZOptions(),
        log: Logger
    ) {
        self.address = address
        self.peripherals = peripherals
        self.options = options
        self.log = log
        storages = Array(repeating: AdapterStorage(), count: adapters)
    }

    /// Comes onto the bus, at first or after a crash.
    ///
    /// - Throws: ``DBusError`` when the bus is not there, or somebody else is `org.bluez` on it.
    public func start() async throws(DBusError) {
        guard daemon == nil else { return }
        let connection = try await DBusConnection.open(address, log: log)
        connection.onDisconnect = { [weak self] in self?.onBusLost?() }
        let daemon = BluetoothDaemon(
            on: connection, peripherals: peripherals, storages: storages, options: options
        ) { [weak self] number, storage in
            self?.storages[number] = storage
        }
        self.daemon = daemon
        try await daemon.start()
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
