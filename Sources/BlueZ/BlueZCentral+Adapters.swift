import Bluetooth
import DBus
import EventLoop
import Logging

/// Which adapter is used, and whether it can be.
extension BlueZCentral {
    func setState(_ new: CentralState) {
        guard new != state else { return }
        state = new
        onEvent?(.stateChanged(new))
    }

    /// An adapter came, went or changed.
    func adapterChanged() {
        let chosen = choice.path(among: tree.adapters, inUse: adapter)
        let object = chosen.flatMap { tree.adapters[$0] }
        let gone = adapter.map { tree.adapters[$0] == nil } ?? false
        use(
            chosen, object.map { $0.isPowered ? .poweredOn : .poweredOff } ?? .unsupported,
            BluetoothError(.poweredOff, text: gone ? "the adapter has gone" : "the adapter is switched off"))
        if let object, discovery.report(object.isDiscovering) { discoveryHasEnded() }
        updateDiscovery()
        connectNext()
    }

    /// Goes over to an adapter or a state.
    ///
    /// - Parameters:
    ///   - chosen: the path of the adapter; nil for none.
    ///   - new: its state.
    ///   - error: why links of another adapter, or of this one while it was usable, are gone.
    func use(_ chosen: String?, _ new: CentralState, _ error: BluetoothError) {
        let (old, hasMoved) = (state, chosen != adapter)
        // Before anybody is told: who hears of a lost link may ask for something.
        (adapter, state) = (chosen, new)
        if hasMoved || (old == .poweredOn && new != .poweredOn) {
            discovery.reset()
            discoveryTimer.disarm()
            discoveryRefusals.reset()
            loseAll(error)
        }
        publishAdapters()
        // Before anything can be connected.
        if chosen != nil { publishBonds() }
        // In the meantime a handler cannot have changed the state: only signals do.
        if new != old { onEvent?(.stateChanged(new)) }
        tellScan()
    }

    func publishAdapters() {
        let present = state == .unauthorized ? [refusedAdapter] : presentAdapters
        guard present != adapters else { return }
        adapters = present
        onEvent?(.adaptersChanged(present))
    }

    /// The adapter that would be used, of which nothing else can be known.
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
                connectedCount: connectedCount(of: path))
        }
    }

    private func connectedCount(of adapter: String) -> Int {
        tree.devices.values.count { $0.adapter == adapter && $0.isConnected }
    }

    static func name(of adapter: String) -> String {
        String(adapter.split(separator: "/").last ?? "")
    }

    // MARK: Switching it off and on

    /// Whether it hurts nobody to switch the adapter off for a moment.
    var isResetHarmless: Bool {
        guard mayResetAdapter, resetting == nil, attempt == nil, let adapter else { return false }
        return connectedCount(of: adapter) == 0
    }

    func resetAdapter() {
        guard let adapter else { return }
        log.warning("the adapter hears nothing and is switched off and on", [(.path, adapter)])
        resetting = adapter
        setPowered(adapter, false) { [weak self] _ in self?.finishReset() }
    }

    /// Switches the adapter on again, as often as it takes: it was on before.
    func finishReset() {
        guard let path = resetting else { return }
        setPowered(path, true) { [weak self] result in
            guard let self, resetting == path else { return }
            guard case .failure(let error) = result, bus != nil, tree.adapters[path] != nil, !isStopped else {
                resetting = nil
                return resettings.reset()
            }
            if resettings.isFresh {
                log.error("the adapter cannot be switched on", [(.path, path), (.error, error.description)])
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
