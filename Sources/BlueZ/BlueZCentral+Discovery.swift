import Bluetooth
import DBus
import EventLoop
import Logging

/// What is wished of discovery, and how it stands.
struct Discovery {
    /// What the user of the central wants; nil for no scan.
    var wish: ScanOptions?
    /// What our own session with BlueZ looks for; nil while we have none.
    var running: ScanOptions?
    /// Whether the adapter says that it discovers, for whomever.
    var isReported = false
    /// Whether the adapter said so when our session began.
    var wasReported = false
    /// Whether a call is under way; the next step waits for its end.
    var isChanging = false
    /// Whether the user of the central has been told that the scan runs.
    var isTold = false

    /// BlueZ has forgotten our session.
    mutating func reset() {
        running = nil
        isReported = false
    }
}

extension BlueZCentral {
    /// How long to wait after a refusal.
    private static let pause = Duration.seconds(2)

    /// Brings discovery nearer to what is wished. It pauses while a connection is made: controllers do one or the other.
    func updateDiscovery() {
        tellScan()
        guard !discovery.isChanging, state == .poweredOn, let adapter else { return }
        let wanted = connecting == nil ? discovery.wish : nil
        guard wanted != discovery.running else { return noticeSilentEnd() }
        if discovery.running != nil {
            changeDiscovery(adapter, "StopDiscovery") { $0.discovery.running = nil }
        } else if let wanted {
            setFilter(adapter, wanted)
        }
    }

    /// Tells when the scan has begun or ended, and not when it pauses for a connection.
    private func tellScan() {
        let isScanning = discovery.wish != nil && (discovery.running != nil || (discovery.isTold && connecting != nil))
        guard isScanning != discovery.isTold else { return }
        discovery.isTold = isScanning
        onEvent?(.scanning(isScanning))
    }

    /// BlueZ has ended a discovery that we hold, as after a power cycle of the controller: begin again.
    private func noticeSilentEnd() {
        guard discovery.running != nil, !discovery.isReported, discovery.wasReported else { return }
        discovery.running = nil
        tellScan()
        discoveryTimer.arm(after: Self.pause)
    }

    private func setFilter(_ adapter: String, _ options: ScanOptions) {
        let filter = DBusValue.properties([
            ("UUIDs", .strings([options.service.description])),
            ("Transport", .string("le")),
            ("DuplicateData", .boolean(options.allowsDuplicates)),
        ])
        changeDiscovery(adapter, "SetDiscoveryFilter", [filter]) { central in
            central.changeDiscovery(adapter, "StartDiscovery") {
                $0.discovery.running = options
                $0.discovery.wasReported = $0.discovery.isReported
            }
        }
    }

    private func changeDiscovery(
        _ adapter: String, _ member: String, _ arguments: [DBusValue] = [],
        then next: @escaping (BlueZCentral) -> Void
    ) {
        discovery.isChanging = true
        call(.call(to: BlueZNames.service, adapter, BlueZNames.adapter, member, arguments)) { [weak self] result in
            guard let self else { return }
            discovery.isChanging = false
            switch result {
            case .success:
                next(self)
                if !discovery.isChanging { updateDiscovery() }
            case .failure(let error): discoveryRefused(member, error)
            }
        }
    }

    private func discoveryRefused(_ member: String, _ error: DBusError) {
        log.debug("BlueZ refuses to change discovery", [(.member, member), (.error, error.description)])
        // Whatever BlueZ thinks of our session, after a refused stop there is none.
        if member == "StopDiscovery" { discovery.running = nil }
        discoveryTimer.arm(after: Self.pause)
    }

    /// A device was heard, or BlueZ told what it knows of one.
    func heard(_ path: String) {
        guard let device = tree.devices[path], device.adapter == adapter, let address = device.address else { return }
        if device.rssi != nil || device.isConnected { connects.heard(address) }
        onEvent?(.discovered(address, device.advertisement))
        connectNext()
    }
}
