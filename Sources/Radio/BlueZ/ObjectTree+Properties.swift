import Bluetooth
import DBus

extension ObjectTree.AdapterObject {
    mutating func apply(_ values: [String: DBusValue]) {
        if let text = values["Address"]?.text { address = BluetoothAddress(text) }
        if let flag = values["Powered"]?.flag { isPowered = flag }
        if let flag = values["Discovering"]?.flag { isDiscovering = flag }
    }
}

extension ObjectTree.DeviceObject {
    mutating func apply(_ values: [String: DBusValue]) {
        if let text = values["Address"]?.text { address = BluetoothAddress(text) }
        if let text = values["Adapter"]?.text { adapter = text }
        if let text = values["Name"]?.text { name = text }
        if let texts = values["UUIDs"]?.textArray { services = Set(texts.compactMap { BluetoothUUID($0) }) }
        if let number = values["RSSI"]?.integer { rssi = number }
        if let flag = values["Connected"]?.flag { isConnected = flag }
        if let flag = values["Paired"]?.flag { isPaired = flag }
        if let flag = values["ServicesResolved"]?.flag { isResolved = flag }
        if let data = values["ManufacturerData"] { manufacturerData = Self.manufacturerData(data) }
    }

    /// `a{qv}` of `ay`.
    private static func manufacturerData(_ value: DBusValue) -> [UInt16: [UInt8]] {
        guard case .dictionary(let entries, _, _) = value.unwrapped else { return [:] }
        var result: [UInt16: [UInt8]] = [:]
        for (key, value) in entries {
            if case .uint16(let company) = key, let bytes = value.byteArray { result[company] = bytes }
        }
        return result
    }
}

extension ObjectTree.ServiceObject {
    /// Sets properties; `shared` returns the stored copy of a device's path.
    mutating func apply(_ values: [String: DBusValue], shared: (String) -> String) {
        if let text = values["UUID"]?.text { uuid = BluetoothUUID(text) }
        if let text = values["Device"]?.text { device = shared(text) }
    }
}

extension ObjectTree.CharacteristicObject {
    /// Sets properties; `shared` returns the stored copy of a service's path.
    mutating func apply(_ values: [String: DBusValue], shared: (String) -> String) {
        if let text = values["UUID"]?.text { uuid = BluetoothUUID(text) }
        if let text = values["Service"]?.text { service = shared(text) }
        if let flags = values["Flags"]?.textArray {
            properties = Self.properties(flags)
            isReadable = flags.contains("read")
        }
        if let flag = values["Notifying"]?.flag { isNotifying = flag }
        if let flag = values["NotifyAcquired"]?.flag { isNotifyAcquired = flag }
    }

    private static func properties(_ flags: [String]) -> CharacteristicProperties {
        var properties: CharacteristicProperties = []
        if flags.contains("write") { properties.insert(.write) }
        if flags.contains("write-without-response") { properties.insert(.writeWithoutResponse) }
        if flags.contains("notify") { properties.insert(.notify) }
        return properties
    }
}
