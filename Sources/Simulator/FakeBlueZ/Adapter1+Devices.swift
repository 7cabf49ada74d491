import DBus
import EventLoop

/// The devices of an adapter.
extension Adapter1 {
    /// Whether anything on the air is of interest.
    var isListening: Bool { storage.isPowered && (isDiscovering || links.isListening) }

    func listen() {
        onListen?()
    }

    /// Brings back a device that is known by its bond.
    func restore(_ peripheral: any SimulatedPeripheral) {
        guard let bond = storage.bonds[peripheral.address] else { return }
        add(Device1(peripheral, on: self, bond: bond))
    }

    /// Takes note of everything that advertises at this moment.
    func hear(_ peripherals: [any SimulatedPeripheral]) {
        guard isListening else { return }
        if isDiscovering {
            for peripheral in peripherals { discover(peripheral) }
        }
        links.listen()
    }

    func device(_ peripheral: any SimulatedPeripheral) -> Device1? {
        devices.first { $0.peripheral === peripheral }
    }

    func add(_ device: Device1) {
        devices.append(device)
        tree.add(device)
    }

    /// Forgets a device, with everything below it.
    func remove(_ device: Device1) {
        guard devices.contains(where: { $0 === device }) else { return }
        devices.removeAll { $0 === device }
        device.cancelConnecting(.connectionAborted, .pairingAborted)
        device.removeServices()
        tree.remove(device)
    }

    func removeDevice(_ call: BusCall) {
        guard let device = devices.first(where: { $0.path == call.arguments[0].text }) else {
            return call.refuse(.doesNotExist)
        }
        guard storage.isPowered else { return call.refuse(.notReady) }
        storage.bonds[device.peripheral.address] = nil
        if device.isConnected {
            device.isToBeRemoved = true
            device.disconnect(call)
        } else {
            remove(device)
            call.reply()
        }
    }

    func clientLeft(_ client: String) {
        discovererLeft(client)
        for device in devices { device.clientLeft(client) }
    }

    /// The adapter goes with all of its devices.
    func unplug() {
        discoverers = [:]
        for device in devices {
            device.cancelConnecting(.connectionAborted, .pairingAborted)
            device.dropLink()
            remove(device)
        }
    }

    /// Simulates the death of bluetoothd: drops every link without a signal.
    func die() {
        for device in devices {
            device.cancelConnecting(.connectionAborted, .pairingAborted)
            device.dropLink()
        }
    }
}
