import Bluetooth
import DBus
import EventLoop

/// What BlueZ tells of its objects.
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
        if names.contains(BlueZNames.adapter) { adapterChanged() }
        guard names.contains(BlueZNames.device), let device, device.adapter == adapter else { return }
        publishAdapters()
        publishBonds()
        if let address = device.address { removed(address) }
    }

    func propertiesChanged(_ message: DBusMessage) {
        guard isLoaded else { return }
        var reader = DBusReader(message)
        if reader.isString("org.bluez.GattCharacteristic1"), valueChanged(message) { return }
        let arguments = message.arguments
        guard arguments.count == 3, let interface = arguments[0].text, let values = arguments[1].textKeyed
        else { return }
        let path = message.path
        // A change of an object that was never told is of one that is gone.
        guard tree.contains(path, interface) else { return }
        tree.apply(values, to: path, interface)
        tree.invalidate(arguments[2].textArray ?? [], of: path, interface)
        switch interface {
        case BlueZNames.adapter: adapterChanged()
        case BlueZNames.device:
            if values["Paired"] != nil { publishBonds() }
            let isAnnounced = values["RSSI"] != nil || values["ManufacturerData"] != nil
            if isAnnounced || isLinkOfOthers(path, values) { heard(path) }
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
        // The property is the same for all characteristics of a link, and BlueZ signals it for each.
        if let mtu = values["MTU"]?.integer, isLinked(peripheral) { mtuChanged(mtu, of: peripheral) }
    }

    /// Whether another program has made a link with a device, which does not advertise from then on.
    private func isLinkOfOthers(_ path: String, _ values: [String: DBusValue]) -> Bool {
        guard values["Connected"]?.flag == true, let address = tree.devices[path]?.address else { return false }
        return peripherals[address] == nil
    }
}
