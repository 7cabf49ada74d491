import DBus
import EventLoop

/// One life of the fake bluetoothd, from its start to its crash.
@LoopActor
final class BluetoothDaemon {
    let adapters: [Adapter1]
    private let connection: DBusConnection
    private let tree: ExportedObjects
    private let agents: AgentManager1
    private let peripherals: [any SimulatedPeripheral]
    private let options: BlueZOptions
    private var clients: DBusSubscription?
    private lazy var air = LoopTimer { [unowned self] in hear() }

    init(
        on connection: DBusConnection, peripherals: [any SimulatedPeripheral], storages: [AdapterStorage],
        options: BlueZOptions, faults: BlueZFaults, onCall: @escaping (BusCall) -> Void,
        onStore: @escaping (Int, AdapterStorage) -> Void
    ) {
        self.connection = connection
        self.peripherals = peripherals
        self.options = options
        let tree = ExportedObjects(on: connection, faults: faults)
        tree.onCall = onCall
        let agents = AgentManager1(on: connection)
        self.tree = tree
        self.agents = agents
        adapters = storages.enumerated().map { number, storage in
            Adapter1(number: number, storage: storage, tree: tree, agents: agents, options: options) {
                onStore(number, $0)
            }
        }
    }

    /// Serves the objects, and then takes the name, so that no client finds the name without them.
    func start() async throws(DBusError) {
        tree.open()
        tree.add(agents)
        for adapter in adapters {
            tree.add(adapter)
            adapter.onListen = { [weak self] in self?.listen() }
            for peripheral in peripherals { adapter.restore(peripheral) }
        }
        tree.flush()
        let rule = DBusMatchRule(
            sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged")
        clients = connection.subscribe(to: rule) { [weak self] message in
            let names = message.arguments.compactMap(\.text)
            // Old owner gone, and no new one.
            if names.count == 3, names[2].isEmpty { self?.clientLeft(names[0]) }
        }
        try await connection.requestName("org.bluez")
    }

    /// Ends at once, without a word to anybody.
    func die() {
        air.disarm()
        clients = nil
        tree.close()
        for adapter in adapters { adapter.die() }
        connection.close()
    }

    /// Takes an adapter out of the machine, or puts it in.
    func setPlugged(_ isPlugged: Bool, adapter: Adapter1) {
        if isPlugged {
            tree.add(adapter)
            for peripheral in peripherals { adapter.restore(peripheral) }
        } else {
            adapter.unplug()
            tree.remove(adapter)
        }
    }

    private func clientLeft(_ client: String) {
        agents.clientLeft(client)
        for adapter in adapters { adapter.clientLeft(client) }
    }

    private func listen() {
        guard !air.isArmed else { return }
        // Some device out of several advertises within a part of the interval.
        air.arm(after: options.advertisingInterval / 10)
    }

    private func hear() {
        for adapter in adapters { adapter.hear(peripherals) }
        if adapters.contains(where: \.isListening) { air.arm(after: options.advertisingInterval) }
    }
}

/// The part that outlives bluetoothd: its files, and the kernel's state of the adapter.
struct AdapterStorage {
    /// The stored data of a bonded device.
    struct Bond {
        var alias: String?
        var isTrusted = false
    }

    /// Whether the adapter has power.
    var isPowered = true
    /// The name that a user gave to the adapter.
    var alias: String?
    /// Bonded devices by address.
    var bonds: [String: Bond] = [:]
}
