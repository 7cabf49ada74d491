import Bluetooth
import DBus
import EventLoop
import Logging
import Time

/// The way to BlueZ: the bus, who is `org.bluez` on it, and its objects.
extension BlueZCentral {
    // MARK: The bus

    func open() async {
        do throws(DBusError) {
            let bus = try await DBusConnection.open(busAddress, log: log)
            guard !isStopped else { return bus.close() }
            self.bus = bus
            reopenings.reset()
            bus.onDisconnect = { [weak self] in self?.busLost() }
            follow(bus)
        } catch {
            guard !isStopped else { return }
            if reopenings.isFresh {
                log.error("cannot reach the system bus", [(.endpoint, busAddress), (.error, error.description)])
            }
            setState(error.isRefusedAccess ? .unauthorized : .unknown)
            publishAdapters()
            reopenTimer.arm(after: reopenings.next())
        }
    }

    private func busLost() {
        log.warning("the system bus has gone", [(.endpoint, busAddress)])
        subscriptions = []
        bus = nil
        serviceLost()
        reopenTimer.arm(after: reopenings.next())
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

    // MARK: The service

    private func ownerChanged(_ owner: String?) {
        guard !isStopped else { return }
        guard let owner else {
            if self.owner != nil || state == .unknown { log.notice("bluetoothd is not running") }
            return serviceLost()
        }
        guard owner != self.owner else { return }
        // One bluetoothd may follow the other at once: what the first one held is gone all the same.
        if self.owner != nil { serviceLost() }
        self.owner = owner
        if let bus { agent.register(on: bus, with: owner) }
        load()
    }

    private func serviceLost() {
        if owner != nil, let (address, pause) = crashSuspects.ended(at: .now) {
            log.warning(
                "bluetoothd has ended again while this device was connected; pausing before the next attempt",
                [(.address, address.description), (.retryIn, "\(pause.milliseconds)")])
        }
        owner = nil
        isLoaded = false
        unansweredAcquisitions.removeAll()
        loadTimer.disarm()
        loadings.reset()
        tree = ObjectTree()
        use(nil, .resetting, BluetoothError(.connectionFailed, text: "bluetoothd has gone"))
    }

    func load() {
        let asked = owner
        call(.call(to: BlueZNames.service, BlueZNames.root, BlueZNames.objectManager, "GetManagedObjects")) {
            [weak self] result in
            guard let self, asked == owner, !isStopped else { return }
            switch result {
            case .success(let message): loaded(message)
            case .failure(let error): loadFailed(error)
            }
        }
    }

    private func loadFailed(_ error: DBusError) {
        if loadings.isFresh { log.error("BlueZ does not tell its objects", [(.error, error.description)]) }
        setState(error.isRefusedAccess ? .unauthorized : .unknown)
        publishAdapters()
        loadTimer.arm(after: loadings.next())
    }

    private func loaded(_ message: DBusMessage) {
        loadings.reset()
        isLoaded = true
        takeObjects(message)
        adapterChanged()
        publishDevices()
    }

    /// Reads one object at a time: all values of a fleet's objects at once would leave the heap full of holes.
    private func takeObjects(_ message: DBusMessage) {
        var reader = DBusReader(message)
        guard var objects = reader.inside() else { return }
        while var object = objects.inside(), let path = object.next()?.text, let interfaces = object.next()?.textKeyed {
            for (name, values) in interfaces { tree.apply(values.textKeyed ?? [:], to: path, name) }
            objects.skip()
        }
    }
}

extension DBusError {
    /// Whether the bus or a service on it does not let us in.
    fileprivate var isRefusedAccess: Bool { name.hasSuffix(".AccessDenied") || name.hasSuffix(".AuthFailed") }
}
