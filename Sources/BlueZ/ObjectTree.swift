import Bluetooth
import DBus

/// What `org.bluez` has told of its objects, by path: only the properties that matter here.
struct ObjectTree {
    struct AdapterObject {
        var address: BluetoothAddress?
        var isPowered = false
        var isDiscovering = false
    }

    struct DeviceObject {
        var address: BluetoothAddress?
        var adapter = ""
        var name: String?
        var manufacturerData: [UInt16: [UInt8]] = [:]
        var rssi: Int?
        var isConnected = false
        var isPaired = false
        var isResolved = false

        var advertisement: Advertisement {
            Advertisement(name: name, manufacturerData: manufacturerData, rssi: rssi, isPaired: isPaired)
        }
    }

    struct ServiceObject {
        var uuid: BluetoothUUID?
        var device = ""
    }

    struct CharacteristicObject {
        var uuid: BluetoothUUID?
        var service = ""
        var properties: CharacteristicProperties = []
    }

    private(set) var adapters: [String: AdapterObject] = [:]
    private(set) var devices: [String: DeviceObject] = [:]
    private(set) var services: [String: ServiceObject] = [:]
    private(set) var characteristics: [String: CharacteristicObject] = [:]

    /// Takes properties of an object's interface, as `InterfacesAdded`, `GetManagedObjects` and `PropertiesChanged` tell
    /// them; an object that is not known begins with them.
    mutating func apply(_ values: [String: DBusValue], to path: String, _ interface: String) {
        switch interface {
        case BlueZNames.adapter: adapters[path, default: AdapterObject()].apply(values)
        case BlueZNames.device: devices[path, default: DeviceObject()].apply(values)
        case BlueZNames.gattService: services[path, default: ServiceObject()].apply(values)
        case BlueZNames.gattCharacteristic: characteristics[path, default: CharacteristicObject()].apply(values)
        default: break
        }
    }

    /// Properties that an object has no longer. Only the signal strength comes and goes.
    mutating func invalidate(_ names: [String], of path: String, _ interface: String) {
        if interface == BlueZNames.device, names.contains("RSSI") { devices[path]?.rssi = nil }
    }

    /// Whether the object has this interface.
    func contains(_ path: String, _ interface: String) -> Bool {
        switch interface {
        case BlueZNames.adapter: adapters[path] != nil
        case BlueZNames.device: devices[path] != nil
        case BlueZNames.gattService: services[path] != nil
        case BlueZNames.gattCharacteristic: characteristics[path] != nil
        default: false
        }
    }

    /// An object has lost interfaces.
    mutating func remove(_ interfaces: [String], of path: String) {
        for interface in interfaces {
            switch interface {
            case BlueZNames.adapter: adapters[path] = nil
            case BlueZNames.device: devices[path] = nil
            case BlueZNames.gattService: services[path] = nil
            case BlueZNames.gattCharacteristic: characteristics[path] = nil
            default: break
            }
        }
    }

    /// The device with an address below an adapter.
    func device(_ address: BluetoothAddress, of adapter: String) -> (path: String, object: DeviceObject)? {
        devices.first { $0.value.address == address && $0.value.adapter == adapter }
            .map { ($0.key, $0.value) }
    }

    /// Paths and properties of a service's characteristics on a device; nil while the service is not there.
    func characteristics(
        of service: BluetoothUUID, on device: String
    ) -> [BluetoothUUID: (path: String, properties: CharacteristicProperties)]? {
        guard let path = services.first(where: { $0.value.uuid == service && $0.value.device == device })?.key else {
            return nil
        }
        var found: [BluetoothUUID: (path: String, properties: CharacteristicProperties)] = [:]
        for (key, object) in characteristics where object.service == path {
            if let uuid = object.uuid { found[uuid] = (key, object.properties) }
        }
        return found
    }
}

extension ObjectTree.AdapterObject {
    fileprivate mutating func apply(_ values: [String: DBusValue]) {
        if let text = values["Address"]?.text { address = BluetoothAddress(text) }
        if let flag = values["Powered"]?.flag { isPowered = flag }
        if let flag = values["Discovering"]?.flag { isDiscovering = flag }
    }
}

extension ObjectTree.DeviceObject {
    fileprivate mutating func apply(_ values: [String: DBusValue]) {
        if let text = values["Address"]?.text { address = BluetoothAddress(text) }
        if let text = values["Adapter"]?.text { adapter = text }
        if let text = values["Name"]?.text { name = text }
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
    fileprivate mutating func apply(_ values: [String: DBusValue]) {
        if let text = values["UUID"]?.text { uuid = BluetoothUUID(text) }
        if let text = values["Device"]?.text { device = text }
    }
}

extension ObjectTree.CharacteristicObject {
    fileprivate mutating func apply(_ values: [String: DBusValue]) {
        if let text = values["UUID"]?.text { uuid = BluetoothUUID(text) }
        if let text = values["Service"]?.text { service = text }
        if let flags = values["Flags"]?.textArray { properties = Self.properties(flags) }
    }

    private static func properties(_ flags: [String]) -> CharacteristicProperties {
        var properties: CharacteristicProperties = []
        if flags.contains("write") { properties.insert(.write) }
        if flags.contains("write-without-response") { properties.insert(.writeWithoutResponse) }
        if flags.contains("notify") { properties.insert(.notify) }
        return properties
    }
}
