import Bluetooth
import DBus
import EventLoop
import Logging
import Time

/// The connection to BlueZ: the bus, the owner of the name `org.bluez`, and its objects.
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

    /// Adds the match rules before the objects are read, so that no change is missed.
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
        // A new bluetoothd may replace the old one at once. The state of the old one is lost nevertheless.
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
        ownSessions = []
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
        if loadings.isFresh { log.error("reading the objects of BlueZ failed", [(.error, error.description)]) }
        setState(error.isRefusedAccess ? .unauthorized : .unknown)
        publishAdapters()
        loadTimer.arm(after: loadings.next())
    }

    private func loaded(_ message: DBusMessage) {
        loadings.reset()
        isLoaded = true
        readObjects(message)
        adapterChanged()
        publishDevices()
    }

    /// Reads one object at a time: all values of many objects at once would fragment the heap.
    private func readObjects(_ message: DBusMessage) {
        var reader = DBusReader(message)
        guard var objects = reader.inside() else { return }
        while var object = objects.inside(), let path = object.next()?.text, let interfaces = object.next()?.textKeyed {
            for (name, values) in interfaces { tree.apply(values.textKeyed ?? [:], to: path, name) }
            objects.skip()
        }
    }
}

extension DBusError {
    /// Whether the bus or a service on it denies access.
    fileprivate var isRefusedAccess: Bool { name.hasSuffix(".AccessDenied") || name.hasSuffix(".AuthFailed") }
}

/// BlueZ's signals about its objects.
extension BlueZCentral {
    func interfacesAdded(_ message: DBusMessage) {
        let arguments = message.arguments
        guard isLoaded, arguments.count == 2, let path = arguments[0].text, let interfaces = arguments[1].textKeyed
        else { return }
        for (name, values) in interfaces { tree.apply(values.textKeyed ?? [:], to: path, name) }
        if interfaces[BlueZNames.adapter] != nil { adapterChanged() }
        if interfaces[BlueZNames.device] != nil {
            publishBonds()
            heard(path)
            deviceChanged(path)
            publishAdapters()
        }
        if interfaces[BlueZNames.gattCharacteristic] != nil { characteristicAdded(path) }
    }

    func interfacesRemoved(_ message: DBusMessage) {
        let arguments = message.arguments
        guard isLoaded, arguments.count == 2, let path = arguments[0].text, let names = arguments[1].textArray
        else { return }
        let device = tree.devices[path]
        tree.remove(names, of: path)
        if names.contains(BlueZNames.gattCharacteristic) { ownSessions.remove(path) }
        if names.contains(BlueZNames.adapter) { adapterChanged() }
        guard names.contains(BlueZNames.device), let device, device.adapter == adapter else { return }
        publishAdapters()
        publishBonds()
        if let address = device.address { deviceRemoved(address) }
    }

    func propertiesChanged(_ message: DBusMessage) {
        guard isLoaded else { return }
        var reader = DBusReader(message)
        if reader.isString("org.bluez.GattCharacteristic1"), let (request, value) = notification(in: message) {
            return deliver(value, to: request)
        }
        let arguments = message.arguments
        guard arguments.count == 3, let interface = arguments[0].text, let values = arguments[1].textKeyed
        else { return }
        let path = message.path
        // The object was removed, or left out because of a bound.
        guard tree.contains(path, interface) else { return }
        tree.apply(values, to: path, interface)
        tree.invalidate(arguments[2].textArray ?? [], of: path, interface)
        switch interface {
        case BlueZNames.adapter: adapterChanged()
        case BlueZNames.device:
            if values["Paired"] != nil { publishBonds() }
            let isAnnounced = values["RSSI"] != nil || values["ManufacturerData"] != nil
            if isAnnounced || isForeignLink(path, values) { heard(path) }
            deviceChanged(path)
            if values["Connected"] != nil { publishAdapters() }
        case BlueZNames.gattCharacteristic: characteristicChanged(path, values)
        default: break
        }
    }

    private func characteristicChanged(_ path: String, _ values: [String: DBusValue]) {
        guard let address = tree.address(ofCharacteristic: path), let peripheral = peripherals[address] else { return }
        switch values["NotifyAcquired"]?.flag {
        case true?: peripheral.acquired.insert(path)
        case false?: peripheral.acquired.remove(path)
        case nil: break
        }
        // The value is the same for all characteristics of a link, and BlueZ sends a signal for each.
        if let mtu = values["MTU"]?.integer, isLinked(peripheral) { mtuChanged(mtu, of: peripheral) }
    }

    /// Whether another program has connected a device. A connected device does not advertise.
    private func isForeignLink(_ path: String, _ values: [String: DBusValue]) -> Bool {
        guard values["Connected"]?.flag == true, let address = tree.devices[path]?.address else { return false }
        return peripherals[address] == nil
    }
}
