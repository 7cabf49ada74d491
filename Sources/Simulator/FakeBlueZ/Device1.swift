import DBus
import EventLoop
import Time

/// `org.bluez.Device1`: what an adapter knows of one device. Its link and its pairing are in other files.
///
/// Order of events and texts of errors: src/device.c of BlueZ 5.66.
@LoopActor
final class Device1: BusObject {
    static let interface = "org.bluez.Device1"

    /// The phase of the link.
    enum Phase {
        case idle
        /// A Connect or a Pair waits for the link.
        case connecting
        /// The link is up, its services are not known.
        case resolving
        case ready
        /// Whether a client has requested the end of the link.
        case disconnecting
    }

    let path: String
    let peripheral: any SimulatedPeripheral
    unowned let adapter: Adapter1

    var phase = Phase.idle
    var servicesResolved = false
    var services: [GattService1] = []
    var connectCall: BusCall?
    var disconnectCalls: [BusCall] = []
    var pairing = PairingPhase.none
    lazy var bearer = ATTBearer(roundTrip: options.roundTrip) { [unowned self] in isReachable }
    lazy var connectTimer = LoopTimer { [unowned self] in connectHasTimedOut() }
    lazy var stepTimer = LoopTimer { [unowned self] in servicesAreKnown() }
    lazy var disconnectTimer = LoopTimer { [unowned self] in dropLink() }
    lazy var pairingTimer = LoopTimer { [unowned self] in pairingHasSucceeded() }

    /// Whether the device is temporary: it is removed when it has not been seen for a while.
    var isTemporary: Bool { didSet { forgetLater() } }
    /// Whether it is to be forgotten as soon as the link has gone.
    var isToBeRemoved = false

    private var alias: String?
    private var isTrusted = false
    private var isBlocked = false
    private var data = AdvertisedData()
    private var lastSeen = Instant.now
    private lazy var forgetTimer = LoopTimer { [unowned self] in forgetIfUnseen() }

    /// A device that has just been heard, or that is known by its bond.
    init(_ peripheral: any SimulatedPeripheral, on adapter: Adapter1, bond: AdapterStorage.Bond?) {
        self.peripheral = peripheral
        self.adapter = adapter
        path = adapter.path + "/dev_" + peripheral.address.replacing(":", with: "_")
        isTemporary = bond == nil
        alias = bond?.alias
        isTrusted = bond?.isTrusted ?? false
    }

    var tree: ExportedObjects { adapter.tree }
    var options: BlueZOptions { adapter.options }
    var isBonded: Bool { adapter.storage.bonds[peripheral.address] != nil }
    var isTrustedByUser: Bool { isTrusted }
    var adapterNumber: Int { adapter.airNumber }
    /// Whether the adapter receives it.
    var isAdvertising: Bool { peripheral.broadcast(at: adapter.airNumber) != nil }
    var isReachable: Bool { peripheral.isReachable(from: adapter.airNumber) }

    func changed(_ properties: String...) {
        for property in properties { tree.changed(self, Self.interface, property) }
    }

    var interfaces: [BusInterface] {
        [
            BusInterface(
                name: Self.interface, properties: identity + state + advertised,
                methods: [
                    BusMethod("Connect") { self.connect($0) },
                    BusMethod("Disconnect") { self.disconnect($0) },
                    BusMethod("Pair") { self.pair($0) },
                    BusMethod("CancelPairing") { self.cancelPairing($0) },
                ])
        ]
    }

    private var identity: [BusProperty] {
        [
            BusProperty("Address", "s") { .string(self.peripheral.address) },
            BusProperty("AddressType", "s") { .string("random") },
            BusProperty("Name", "s") { self.data.name.map(DBusValue.string) },
            BusProperty("Alias", "s") {
                .string(self.alias ?? self.data.name ?? self.peripheral.address.replacing(":", with: "-"))
            } set: {
                self.setAlias($0)
            },
            BusProperty("Adapter", "o") { .objectPath(self.adapter.path) },
        ]
    }

    private var state: [BusProperty] {
        [
            BusProperty("Paired", "b") { .boolean(self.isBonded) },
            BusProperty("Bonded", "b") { .boolean(self.isBonded) },
            BusProperty("Trusted", "b") {
                .boolean(self.isTrusted)
            } set: {
                self.setTrusted($0)
            },
            BusProperty("Blocked", "b") {
                .boolean(self.isBlocked)
            } set: {
                self.setBlocked($0)
            },
            BusProperty("LegacyPairing", "b") { .boolean(false) },
            BusProperty("Connected", "b") { .boolean(self.isConnected) },
            BusProperty("ServicesResolved", "b") { .boolean(self.servicesResolved) },
        ]
    }

    private var advertised: [BusProperty] {
        [
            BusProperty("UUIDs", "as") { .strings(self.data.uuids) },
            BusProperty("RSSI", "n") { self.data.rssi.map(DBusValue.int16) },
            BusProperty("ManufacturerData", "a{qv}") {
                let entries = self.data.manufacturerData.sorted { $0.key < $1.key }
                    .map { (key: DBusValue.uint16($0.key), value: DBusValue.variant(.bytes($0.value))) }
                return entries.isEmpty ? nil : .dictionary(entries, key: "q", value: "v")
            },
        ]
    }

    private func setAlias(_ value: DBusValue) {
        alias = value.text.flatMap { $0.isEmpty ? nil : $0 }
        adapter.storage.bonds[peripheral.address]?.alias = alias
        changed("Alias")
    }

    private func setTrusted(_ value: DBusValue) {
        isTrusted = value.flag ?? false
        adapter.storage.bonds[peripheral.address]?.isTrusted = isTrusted
        changed("Trusted")
    }

    private func setBlocked(_ value: DBusValue) {
        isBlocked = value.flag ?? false
        changed("Blocked")
        if isBlocked, isConnected { dropLink() }
    }

    /// The bond as it is to be kept.
    var bond: AdapterStorage.Bond { AdapterStorage.Bond(alias: alias, isTrusted: isTrusted) }

    // MARK: Being heard

    /// A discovery has heard it.
    func heard(_ broadcast: BroadcastData, isFiltered: Bool, reportsDuplicates: Bool) {
        seen()
        for property in data.take(broadcast, isFiltered: isFiltered, reportsDuplicates: reportsDuplicates) {
            changed(property)
        }
    }

    /// The discovery is over.
    func discoveryHasEnded() {
        if data.forgetStrength() { changed("RSSI") }
    }

    // MARK: Being forgotten

    func seen() {
        lastSeen = .now
        forgetLater()
    }

    private func forgetLater() {
        guard isTemporary, !isConnected, !forgetTimer.isArmed else { return }
        forgetTimer.arm(at: lastSeen + options.temporaryTimeout)
    }

    private func forgetIfUnseen() {
        guard isTemporary, !isConnected, phase == .idle else { return }
        guard lastSeen + options.temporaryTimeout <= .now else { return forgetLater() }
        adapter.remove(self)
    }
}
