import Bluetooth
import DBus

/// What `org.bluez` has told of its objects, by path: only the properties that matter here. What BlueZ removes goes here as
/// well, and what it has not added never comes in.
///
/// Devices on the air decide how many objects there are: further ones are left out.
struct ObjectTree {
    /// Upper bound on devices. A device with a bond or a link always has its place.
    static let mostDevices = 4_096
    /// Upper bound on services and characteristics of one device; a tag has about ten.
    static let mostGATTObjects = 256

    struct AdapterObject {
        var address: BluetoothAddress?
        var isPowered = false
        var isDiscovering = false
    }

    struct DeviceObject {
        var address: BluetoothAddress?
        var adapter = ""
        var name: String?
        var services: Set<BluetoothUUID> = []
        var manufacturerData: [UInt16: [UInt8]] = [:]
        /// Only while a discovery runs, and only of a device that it has heard.
        var rssi: Int?
        var isConnected = false
        var isPaired = false
        var isResolved = false

        /// Whether it is within reach for certain: a connected device does not advertise.
        var isThere: Bool { rssi != nil || isConnected }

        var advertisement: Advertisement {
            Advertisement(
                name: name, manufacturerData: manufacturerData, rssi: rssi, isPaired: isPaired,
                isConnected: isConnected)
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
        /// Whether its value can be read.
        var isReadable = false
        /// Whether anybody has a session of notifications by signals.
        var isNotifying = false
        /// Whether a client has acquired the notifications by descriptor.
        var isNotifyAcquired = false
    }

    /// Where a characteristic is, and what can be done with it.
    struct Characteristic {
        let path: String
        let properties: CharacteristicProperties
    }

    private(set) var adapters: [String: AdapterObject] = [:]
    private(set) var devices: [String: DeviceObject] = [:]
    private(set) var services: [String: ServiceObject] = [:]
    private(set) var characteristics: [String: CharacteristicObject] = [:]
    /// How many services and characteristics each device has, by the path of its object.
    private var gattObjects: [String: Int] = [:]
    /// Paths of the devices of each address, one for each adapter: every request looks here.
    private var paths: [BluetoothAddress: Set<String>] = [:]

    /// Takes properties of an object's interface, as `InterfacesAdded`, `GetManagedObjects` and `PropertiesChanged` tell
    /// them; an object that is not known begins with them.
    mutating func apply(_ values: [String: DBusValue], to path: String, _ interface: String) {
        guard contains(path, interface) || makeRoom(for: values, at: path, interface) else { return }
        switch interface {
        case BlueZNames.adapter: adapters[path, default: AdapterObject()].apply(values)
        case BlueZNames.device:
            devices[path, default: DeviceObject()].apply(values)
            if values["Address"] != nil { index(path) }
        case BlueZNames.gattService: services[path, default: ServiceObject()].apply(values)
        case BlueZNames.gattCharacteristic: characteristics[path, default: CharacteristicObject()].apply(values)
        default: break
        }
    }

    /// Properties that an object has no longer. Only the signal strength comes and goes.
    mutating func invalidate(_ names: [String], of path: String, _ interface: String) {
        if interface == BlueZNames.device, names.contains("RSSI") { devices[path]?.rssi = nil }
    }

    /// BlueZ has answered that the device is connected. When its kernel tells it of the link by the socket first, it
    /// never signals the property. Source: BlueZ 5.66, `att_connect_cb` and `device_add_connection` in `src/device.c`.
    mutating func setConnected(_ path: String) {
        devices[path]?.isConnected = true
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
            case BlueZNames.device: removeDevice(path)
            case BlueZNames.gattService: if services.removeValue(forKey: path) != nil { releaseRoom(of: path) }
            case BlueZNames.gattCharacteristic:
                if characteristics.removeValue(forKey: path) != nil { releaseRoom(of: path) }
            default: break
            }
        }
    }

    /// The device with an address below an adapter.
    func device(_ address: BluetoothAddress, of adapter: String) -> (path: String, object: DeviceObject)? {
        for path in paths[address] ?? [] {
            if let object = devices[path], object.adapter == adapter { return (path, object) }
        }
        return nil
    }

    /// The characteristics of a service on a device; nil while the service is not there. Of several services with the
    /// same UUID the one with the most characteristics counts.
    func characteristics(of service: BluetoothUUID, on device: String) -> [BluetoothUUID: Characteristic]? {
        services.filter { $0.value.uuid == service && $0.value.device == device }.keys.sorted()
            .map { characteristics(below: $0) }
            .max { $0.count < $1.count }
    }

    /// Whether a client has acquired notifications of a device.
    func isNotifyAcquired(below device: String) -> Bool {
        characteristics.contains { $0.value.isNotifyAcquired && $0.key.hasPrefix(device + "/") }
    }

    /// The address of the device that a characteristic belongs to.
    func address(ofCharacteristic path: String) -> BluetoothAddress? {
        guard let service = characteristics[path]?.service, let device = services[service]?.device else { return nil }
        return devices[device]?.address
    }

    private func characteristics(below service: String) -> [BluetoothUUID: Characteristic] {
        var found: [BluetoothUUID: Characteristic] = [:]
        for (path, object) in characteristics where object.service == service {
            guard let uuid = object.uuid else { continue }
            found[uuid] = Characteristic(path: path, properties: object.properties)
        }
        return found
    }

    // MARK: Bounds

    /// Whether one more object has a place.
    private mutating func makeRoom(for values: [String: DBusValue], at path: String, _ interface: String) -> Bool {
        switch interface {
        case BlueZNames.device:
            return devices.count < Self.mostDevices || values["Paired"]?.flag == true
                || values["Connected"]?.flag == true
        case BlueZNames.gattService, BlueZNames.gattCharacteristic:
            let device = Self.device(of: path)
            guard gattObjects[device, default: 0] < Self.mostGATTObjects else { return false }
            gattObjects[device, default: 0] += 1
            return true
        default: return true
        }
    }

    private mutating func releaseRoom(of path: String) {
        let device = Self.device(of: path)
        guard let count = gattObjects[device] else { return }
        gattObjects[device] = count > 1 ? count - 1 : nil
    }

    /// `/org/bluez/hci0/dev_…`, which the paths of a device's services and characteristics begin with.
    private static func device(of path: String) -> String {
        let parts = path.split(separator: "/", maxSplits: 4)
        return parts.count < 4 ? path : String(path[..<parts[3].endIndex])
    }

    // MARK: The index

    /// A device's address may change when it is bonded: its path does not.
    private mutating func index(_ path: String) {
        forgetIndex(path)
        if let address = devices[path]?.address { paths[address, default: []].insert(path) }
    }

    private mutating func removeDevice(_ path: String) {
        forgetIndex(path)
        devices[path] = nil
    }

    private mutating func forgetIndex(_ path: String) {
        for (address, known) in paths where known.contains(path) {
            paths[address] = known.count == 1 ? nil : known.subtracting([path])
        }
    }
}
