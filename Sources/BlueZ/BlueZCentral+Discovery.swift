import Bluetooth
import DBus
import EventLoop
import Logging
import Time

/// Scanning, with pauses for connections: controllers do one or the other.
extension BlueZCentral {
    /// Brings discovery nearer to what is wished.
    func updateDiscovery() {
        if state == .poweredOn, !isStopped, !discoveryTimer.isArmed, let adapter {
            switch discovery.step(isPaused: attempt != nil) {
            case .start(let options): start(options, on: adapter)
            case .stop: stopDiscovery(on: adapter)
            case nil: break
            }
        }
        tellScan()
    }

    func tellScan() {
        if let isScanning = discovery.news(isPaused: attempt != nil) { onEvent?(.scanning(isScanning)) }
    }

    private func start(_ options: ScanOptions, on adapter: String) {
        let filter = DBusValue.properties([
            ("UUIDs", .strings([options.service.description])),
            ("Transport", .string("le")),
            ("DuplicateData", .boolean(options.allowsDuplicates)),
        ])
        changeDiscovery(adapter, "SetDiscoveryFilter", [filter]) { central, error in
            if let error { return central.discoveryRefused("SetDiscoveryFilter", error) }
            central.changeDiscovery(adapter, "StartDiscovery") { central, error in
                // In progress it is when BlueZ has not ended what we think it has: so we have what we want.
                if let error, error.name != "org.bluez.Error.InProgress" {
                    return central.discoveryRefused("StartDiscovery", error)
                }
                central.discoveryHasBegun(options)
            }
        }
    }

    private func stopDiscovery(on adapter: String) {
        changeDiscovery(adapter, "StopDiscovery") { central, error in
            if let error {
                // Whatever BlueZ thinks of our session: the next start tells.
                central.log.debug("BlueZ refuses to end the discovery", [(.error, error.description)])
            }
            central.discovery.stopped()
            central.updateDiscovery()
        }
    }

    private func changeDiscovery(
        _ adapter: String, _ member: String, _ arguments: [DBusValue] = [],
        then next: @escaping @LoopActor (BlueZCentral, DBusError?) -> Void
    ) {
        discovery.begin()
        let generation = discovery.generation
        call(.call(to: BlueZNames.service, adapter, BlueZNames.adapter, member, arguments)) { [weak self] result in
            guard let self, generation == discovery.generation else { return }
            guard case .failure(let error) = result else { return next(self, nil) }
            // Without a bus there is nothing to refuse: that is told in a moment, and ends the discovery.
            if error.code != .disconnected { next(self, error) }
        }
    }

    private func discoveryHasBegun(_ options: ScanOptions) {
        discovery.started(options)
        discoveryRefusals.reset()
        watch.began(at: .now)
        watchTimer.arm(at: watch.deadline)
        updateDiscovery()
    }

    private func discoveryRefused(_ member: String, _ error: DBusError) {
        discovery.refused()
        if discoveryRefusals.isFresh {
            log.warning("BlueZ refuses to discover", [(.member, member), (.error, error.description)])
        }
        discoveryTimer.arm(after: discoveryRefusals.next())
        tellScan()
    }

    /// BlueZ has ended a discovery that we hold: begin again, but not at once, since it had a reason.
    func discoveryHasEnded() {
        log.debug("BlueZ has ended the discovery")
        tellScan()
        discoveryTimer.arm(after: discoveryRefusals.next())
    }

    // MARK: Silence

    func doubtDiscovery() {
        guard discovery.running != nil, !isStopped else { return }
        let isFresh = watch.isFresh
        switch watch.step(at: .now, mayReset: isResetHarmless) {
        case .restart:
            if isFresh { log.info("nothing is heard, discovery is begun anew") }
            discovery.doubt()
            updateDiscovery()
        case .resetAdapter: resetAdapter()
        case nil: break
        }
        watchTimer.arm(at: watch.deadline)
    }

    // MARK: Being heard

    /// Reports all devices that BlueZ knows.
    func publishDevices() {
        for path in tree.devices.keys.sorted() { heard(path) }
    }

    /// Reports the bonded devices if they have changed.
    func publishBonds() {
        let bonded = Set(
            tree.devices.values.filter { $0.isPaired && $0.adapter == adapter && adapter != nil }.compactMap(\.address))
        guard bonded != publishedBonds else { return }
        publishedBonds = bonded
        onEvent?(.bonds(bonded))
    }

    /// A device was heard, or BlueZ told what it knows of one.
    func heard(_ path: String) {
        guard let device = tree.devices[path], device.adapter == adapter, let address = device.address else { return }
        guard device.isThere else {
            if isWatched(device) { onEvent?(.remembered(address, device.advertisement)) }
            return
        }
        let now = Instant.now
        if device.rssi != nil { watch.heard(at: now) }
        connects.heard(address, at: now)
        // Another client of BlueZ may look for something else: what it hears comes here as well.
        if isWatched(device) { onEvent?(.discovered(address, device.advertisement)) }
        connectNext()
    }

    private func isWatched(_ device: ObjectTree.DeviceObject) -> Bool {
        [discovery.wish?.service, watched].contains { $0.map(device.services.contains) ?? false }
    }
}
