public import Bluetooth
import DBus
import EventLoop
import Logging
import Time

extension BlueZCentral {
    /// Which adapter to use.
    public enum AdapterChoice: Hashable, Sendable {
        /// The first one that is switched on, otherwise the first one.
        case automatic
        /// The one with this kernel name, such as `hci0`.
        case named(String)
        /// The one with this address.
        case address(BluetoothAddress)

        /// Parses a choice.
        ///
        /// - Parameter text: `auto`, an address such as `F0:00:00:00:00:01`, or a name such as `hci0`.
        public init(_ text: String) {
            self = text == "auto" ? .automatic : BluetoothAddress(text).map(Self.address) ?? .named(text)
        }

        /// Returns the path of the adapter to use; nil if there is none. An adapter in use is kept as long as it is
        /// usable, because links and bonds belong to it.
        func path(among adapters: [String: ObjectTree.AdapterObject], inUse: String?) -> String? {
            let paths = adapters.keys.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
            switch self {
            case .automatic:
                if let inUse, adapters[inUse]?.isPowered == true { return inUse }
                return paths.first { adapters[$0]?.isPowered == true } ?? inUse.flatMap {
                    adapters[$0] == nil ? nil : $0
                }
                    ?? paths.first
            case .named(let name): return paths.first { $0.hasSuffix("/" + name) }
            case .address(let address): return paths.first { adapters[$0]?.address == address }
            }
        }
    }
}

/// The choice of the adapter, and its state.
extension BlueZCentral {
    func setState(_ new: CentralState) {
        guard new != state else { return }
        state = new
        onEvent?(.stateChanged(new))
    }

    /// Handles an adapter that was added, removed or changed.
    func adapterChanged() {
        let chosen = choice.path(among: tree.adapters, inUse: adapter)
        let object = chosen.flatMap { tree.adapters[$0] }
        let isPresent = adapter.flatMap { tree.adapters[$0] } != nil
        use(
            chosen, object.map { $0.isPowered ? .poweredOn : .poweredOff } ?? .unsupported,
            BluetoothError(.poweredOff, text: isPresent ? "the adapter is switched off" : "the adapter has gone"))
        resumeReset()
        if let object, discovery.report(object.isDiscovering) { discoveryHasEnded() }
        updateDiscovery()
        connectNext()
    }

    /// Changes the adapter or its state.
    ///
    /// - Parameters:
    ///   - chosen: the path of the adapter; nil if there is none.
    ///   - new: its state.
    ///   - error: the error of links through the previous adapter, or through this one if it is no longer usable.
    func use(_ chosen: String?, _ new: CentralState, _ error: BluetoothError) {
        let (old, hasMoved) = (state, chosen != adapter)
        // Set before any event is sent: the handler of a lost link may make requests.
        (adapter, state) = (chosen, new)
        if hasMoved || (old == .poweredOn && new != .poweredOn) {
            discovery.reset()
            discoveryTimer.disarm()
            discoveryRefusals.reset()
            endAllLinks(error)
        }
        publishAdapters()
        // Bonds are reported before anything can be connected.
        if chosen != nil { publishBonds() }
        // Only signals change the state, so the handlers above have not.
        if new != old { onEvent?(.stateChanged(new)) }
        reportScanning()
    }

    func publishAdapters() {
        let present = state == .unauthorized ? [refusedAdapter] : presentAdapters
        guard present != adapters else { return }
        adapters = present
        onEvent?(.adaptersChanged(present))
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
        tree.adapters.sorted { $0.key < $1.key }.map { path, object in
            Adapter(
                id: Self.name(of: path),
                address: object.address,
                state: object.isPowered ? .poweredOn : .poweredOff,
                isDiscovering: object.isDiscovering,
                connectedCount: tree.connectedCount(of: path))
        }
    }

    static func name(of adapter: String) -> String {
        String(adapter.split(separator: "/").last ?? "")
    }

    // MARK: Switching it off and on

    /// Whether the adapter may be switched off for a moment: no device is connected through it.
    var canResetAdapter: Bool {
        guard mayResetAdapter, resetting == nil, attempt == nil, let adapter else { return false }
        return tree.connectedCount(of: adapter) == 0
    }

    func resetAdapter() {
        guard let adapter else { return }
        log.warning("nothing received, switching the adapter off and on", [(.path, adapter)])
        resetting = adapter
        switchedOff = tree.adapters[adapter]?.address
        guard let onReset else { return switchOff(adapter) }
        EventLoop.shared.begin {
            await onReset(self.switchedOff)
            self.switchOff(adapter)
        }
    }

    /// Switches the adapter off, unless it is in use meanwhile.
    private func switchOff(_ path: String) {
        guard resetting == path, !isStopped, attempt == nil, tree.connectedCount(of: path) == 0 else {
            resetting = nil
            return forgetReset()
        }
        setPowered(path, false) { [weak self] _ in self?.finishReset() }
    }

    /// Switches on an adapter that bluetoothd, or a process that was killed, has left switched off during a reset.
    private func resumeReset() {
        guard resetting == nil, let switchedOff,
            let (path, object) = tree.adapters.first(where: { $0.value.address == switchedOff })
        else { return }
        guard !object.isPowered else { return forgetReset() }
        log.notice("switching the adapter on after a reset that was interrupted", [(.path, path)])
        resetting = path
        finishReset()
    }

    private func forgetReset() {
        switchedOff = nil
        guard let onReset else { return }
        EventLoop.shared.begin { await onReset(nil) }
    }

    /// Switches the adapter on again, and retries until it succeeds.
    func finishReset() {
        guard let path = resetting else { return }
        setPowered(path, true) { [weak self] result in
            guard let self, resetting == path else { return }
            guard case .failure(let error) = result, bus != nil, tree.adapters[path] != nil, !isStopped else {
                resetting = nil
                if case .success = result { forgetReset() }
                return resettings.reset()
            }
            if resettings.isFresh {
                log.error("switching the adapter on failed", [(.path, path), (.error, error.description)])
            }
            resetTimer.arm(after: resettings.next())
        }
    }

    private func setPowered(
        _ path: String, _ isOn: Bool, completion: @escaping @LoopActor (Result<DBusMessage, DBusError>) -> Void
    ) {
        call(
            .call(
                to: BlueZNames.service, path, BlueZNames.properties, "Set",
                [.string(BlueZNames.adapter), .string("Powered"), .variant(.boolean(isOn))]),
            completion: completion)
    }
}

/// Scanning. It pauses during connection attempts, because controllers cannot do both.
extension BlueZCentral {
    /// Makes the next call that discovery needs.
    func updateDiscovery() {
        if state == .poweredOn, !isStopped, !discoveryTimer.isArmed, let adapter {
            switch discovery.step(isPaused: attempt != nil) {
            case .start(let options): start(options, on: adapter)
            case .stop: stopDiscovery(on: adapter)
            case nil: break
            }
        }
        reportScanning()
    }

    func reportScanning() {
        if let isScanning = discovery.scanningChange(isPaused: attempt != nil) { onEvent?(.scanning(isScanning)) }
    }

    private func start(_ service: BluetoothUUID, on adapter: String) {
        let filter = DBusValue.properties([
            ("UUIDs", .strings([service.description])),
            ("Transport", .string("le")),
            ("DuplicateData", .boolean(true)),
        ])
        changeDiscovery(adapter, "SetDiscoveryFilter", [filter]) { central, error in
            if let error { return central.discoveryRefused("SetDiscoveryFilter", error) }
            central.changeDiscovery(adapter, "StartDiscovery") { central, error in
                // `InProgress`: BlueZ has not ended the previous session. Discovery is running, as requested.
                if let error, error.name != "org.bluez.Error.InProgress" {
                    return central.discoveryRefused("StartDiscovery", error)
                }
                central.discoveryHasBegun(service)
            }
        }
    }

    private func stopDiscovery(on adapter: String) {
        changeDiscovery(adapter, "StopDiscovery") { central, error in
            if let error {
                // Ignored: if the session still runs, the next start returns `InProgress`.
                central.log.debug("stopping discovery failed", [(.error, error.description)])
            }
            central.discovery.stopped()
            central.watchTimer.disarm()
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
            // A lost bus is reported separately and resets discovery.
            if error.code != .disconnected { next(self, error) }
        }
    }

    private func discoveryHasBegun(_ service: BluetoothUUID) {
        discovery.started(service)
        discoveryRefusals.reset()
        watch.began(at: .now)
        watchTimer.arm(at: watch.deadline)
        updateDiscovery()
    }

    private func discoveryRefused(_ member: String, _ error: DBusError) {
        discovery.refused()
        if discoveryRefusals.isFresh {
            log.warning("starting discovery failed", [(.member, member), (.error, error.description)])
        }
        discoveryTimer.arm(after: discoveryRefusals.next())
        reportScanning()
    }

    /// Handles the end of a discovery that this central had not stopped. Starts it again after a pause.
    func discoveryHasEnded() {
        log.debug("BlueZ has ended discovery")
        discoveryTimer.arm(after: discoveryRefusals.next())
    }

    // MARK: Silence

    func checkDiscovery() {
        guard discovery.running != nil, !isStopped else { return }
        let isFresh = watch.isFresh
        switch watch.step(at: .now, mayReset: canResetAdapter) {
        case .restart:
            if isFresh { log.info("nothing received, restarting discovery") }
            discovery.restart()
            updateDiscovery()
        case .resetAdapter: resetAdapter()
        case nil: break
        }
        watchTimer.arm(at: watch.deadline)
    }

    // MARK: Being heard

    /// Reports all devices known to BlueZ.
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

    /// Handles a device that was heard, or that BlueZ knows.
    func heard(_ path: String) {
        guard let device = tree.devices[path], device.adapter == adapter, let address = device.address else { return }
        guard device.isInRange else {
            if isWatched(device) { onEvent?(.remembered(address, device.advertisement)) }
            return
        }
        let now = Instant.now
        if device.rssi != nil { watch.heard(at: now) }
        connects.heard(address, at: now)
        // Devices found for other clients of BlueZ are reported here, too.
        if isWatched(device) { onEvent?(.discovered(address, device.advertisement)) }
        connectNext()
    }

    private func isWatched(_ device: ObjectTree.DeviceObject) -> Bool {
        [discovery.requested, watched].contains { $0.map(device.services.contains) ?? false }
    }
}
