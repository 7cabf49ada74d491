import DBus
import EventLoop

/// `org.bluez.Adapter1`: the interface and its power. Its devices and its discovery are in other files.
///
/// Order of checks and texts of errors: src/adapter.c of BlueZ 5.66.
@LoopActor
final class Adapter1: BusObject {
    static let interface = "org.bluez.Adapter1"

    let path: String
    let tree: ExportedObjects
    let options: BlueZOptions
    let agents: AgentManager1
    let links: LinkScheduler
    /// The part that outlives bluetoothd.
    var storage: AdapterStorage { didSet { onStore(storage) } }
    var devices: [Device1] = []
    var discoverers: [String: Discoverer] = [:]
    /// Called when the adapter begins to wait for what is on the air.
    var onListen: (() -> Void)?

    let number: Int
    /// The number that devices know it by.
    var airNumber: Int { options.firstAdapter + number }
    private let onStore: (AdapterStorage) -> Void
    private var isDiscoverable = false
    private var isPairable = true

    init(
        number: Int, storage: AdapterStorage, tree: ExportedObjects, agents: AgentManager1, options: BlueZOptions,
        onStore: @escaping (AdapterStorage) -> Void
    ) {
        self.number = number
        self.storage = storage
        self.tree = tree
        self.agents = agents
        self.options = options
        self.onStore = onStore
        path = "/org/bluez/hci\(number)"
        links = LinkScheduler(setupTime: options.linkSetup)
    }

    var interfaces: [BusInterface] {
        [BusInterface(name: Self.interface, properties: properties, methods: methods)]
    }

    private var properties: [BusProperty] {
        [
            BusProperty("Address", "s") { .string("00:1A:7D:00:00:0\(self.airNumber + 1)") },
            BusProperty("AddressType", "s") { .string("public") },
            BusProperty("Name", "s") { .string("simulator") },
            BusProperty("Alias", "s") {
                .string(self.storage.alias ?? "simulator")
            } set: {
                self.setAlias($0)
            },
            BusProperty("Class", "u") { .uint32(0) },
            BusProperty("Powered", "b") {
                .boolean(self.storage.isPowered)
            } set: {
                self.setPowered($0.flag == true)
            },
            BusProperty("Discoverable", "b") {
                .boolean(self.isDiscoverable)
            } set: {
                self.isDiscoverable = $0.flag == true
                self.changed("Discoverable")
            },
            BusProperty("Pairable", "b") {
                .boolean(self.isPairable)
            } set: {
                self.isPairable = $0.flag == true
                self.changed("Pairable")
            },
            BusProperty("Discovering", "b") { .boolean(self.isDiscovering) },
            BusProperty("UUIDs", "as") { .strings([]) },
            BusProperty("Roles", "as") { .strings(["central", "peripheral"]) },
        ]
    }

    private var methods: [BusMethod] {
        [
            BusMethod("StartDiscovery") { self.startDiscovery($0) },
            BusMethod("StopDiscovery") { self.stopDiscovery($0) },
            BusMethod("SetDiscoveryFilter", takes: "a{sv}") { self.setDiscoveryFilter($0) },
            BusMethod("GetDiscoveryFilters", gives: "as") {
                $0.reply(
                    .strings(["UUIDs", "RSSI", "Pathloss", "Transport", "DuplicateData", "Discoverable", "Pattern"]))
            },
            BusMethod("RemoveDevice", takes: "o") { self.removeDevice($0) },
        ]
    }

    func changed(_ property: String) {
        tree.changed(self, Self.interface, property)
    }

    private func setAlias(_ value: DBusValue) {
        storage.alias = value.text.flatMap { $0.isEmpty ? nil : $0 }
        changed("Alias")
    }

    // MARK: Power

    func setPowered(_ isOn: Bool) {
        guard storage.isPowered != isOn else { return }
        if isOn {
            storage.isPowered = true
        } else {
            for device in devices where device.isTemporary && !device.isConnected { remove(device) }
            storage.isPowered = false
            endDiscovery()
            for device in devices {
                device.cancelConnecting(.connectionAborted, .pairingAborted)
                device.dropLink()
            }
        }
        changed("Powered")
    }
}
