import Bluetooth
import DBus

/// A copy of the objects of `org.bluez` by path, with the properties that are used here.
///
/// Any device nearby can add objects, so their number is bounded. Further ones are ignored.
struct ObjectTree {
    /// Upper bound on devices. Devices with a bond or a link are always stored.
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
        /// Set only while discovery runs, for devices that it has received.
        var rssi: Int?
        var isConnected = false
        var isPaired = false
        var isResolved = false

        /// Whether the device is certainly in range. A connected device does not advertise.
        var isInRange: Bool { rssi != nil || isConnected }

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
        // In this order, because a tag has four of them and other orders leave gaps.
        var service = ""
        var uuid: BluetoothUUID?
        var properties: CharacteristicProperties = []
        /// Whether its value can be read.
        var isReadable = false
        /// Whether any client has a subscription by signals.
        var isNotifying = false
        /// Whether a client has acquired the notifications by descriptor.
        var isNotifyAcquired = false
    }

    /// The path and the properties of a characteristic.
    struct Characteristic {
        let path: String
        let properties: CharacteristicProperties
    }

    private(set) var adapters: [String: AdapterObject] = [:]
    private(set) var devices: [String: DeviceObject] = [:]
    private(set) var services: [String: ServiceObject] = [:]
    private(set) var characteristics: [String: CharacteristicObject] = [:]
    /// The paths of the services and characteristics of each device, by the device's path.
    private var gattObjects: [String: [String]] = [:]
    /// The paths of the connected devices of each adapter. Counting them at each link would be slow.
    private var connectedDevices: [String: Set<String>] = [:]
    /// Paths of the devices with each address, one per adapter. An index for requests.
    private var paths: [BluetoothAddress: Set<String>] = [:]

    /// Sets properties of an object's interface from `InterfacesAdded`, `GetManagedObjects` or `PropertiesChanged`.
    /// Adds the object if it is unknown.
    mutating func apply(_ values: [String: DBusValue], to path: String, _ interface: String) {
        guard contains(path, interface) || makeRoom(for: values, at: path, interface) else { return }
        switch interface {
        case BlueZNames.adapter: adapters[path, default: AdapterObject()].apply(values)
        case BlueZNames.device:
            let address = devices[path]?.address
            devices[path, default: DeviceObject()].apply(values)
            if devices[path]?.address != address { index(path, before: address) }
            indexConnection(of: path)
        case BlueZNames.gattService:
            services[path, default: ServiceObject()].apply(values) { [devices] in devices.storedKey($0) }
        case BlueZNames.gattCharacteristic:
            characteristics[path, default: CharacteristicObject()].apply(values) { [services] in services.storedKey($0)
            }
        default: break
        }
    }

    /// Removes invalidated properties. Only the signal strength can be invalidated.
    mutating func invalidate(_ names: [String], of path: String, _ interface: String) {
        if interface == BlueZNames.device, names.contains("RSSI") { devices[path]?.rssi = nil }
    }

    /// Marks a device as connected after `Connect` has succeeded. If the kernel reports the link to bluetoothd by the
    /// socket first, bluetoothd never signals the property. Source: BlueZ 5.66, `att_connect_cb` and
    /// `device_add_connection` in `src/device.c`.
    mutating func setConnected(_ path: String) {
        devices[path]?.isConnected = true
        indexConnection(of: path)
    }

    /// Returns the number of devices that are connected by an adapter.
    func connectedCount(of adapter: String) -> Int {
        connectedDevices[adapter]?.count ?? 0
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

    /// Removes interfaces of an object.
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

    /// Returns the device with an address below an adapter.
    func device(_ address: BluetoothAddress, of adapter: String) -> (path: String, object: DeviceObject)? {
        for path in paths[address] ?? [] {
            if let object = devices[path], object.adapter == adapter { return (path, object) }
        }
        return nil
    }

    /// Returns the characteristics of a service of a device; nil if the device has no such service. Of several services
    /// with the same UUID, the one with the most characteristics counts.
    func characteristics(of service: BluetoothUUID, on device: String) -> [BluetoothUUID: Characteristic]? {
        let paths = gattObjects[device] ?? []
        return paths.filter { services[$0]?.uuid == service && services[$0]?.device == device }.sorted()
            .map { characteristics(below: $0, among: paths) }
            .max { $0.count < $1.count }
    }

    /// Whether a client has subscribed to notifications of a device. `own` are the paths of characteristics whose session
    /// by signals does not count.
    func hasClient(below device: String, besides own: Set<String> = []) -> Bool {
        (gattObjects[device] ?? []).contains { path in
            guard let object = characteristics[path] else { return false }
            return object.isNotifyAcquired || (object.isNotifying && !own.contains(path))
        }
    }

    /// Returns the address of the device that a characteristic belongs to.
    func address(ofCharacteristic path: String) -> BluetoothAddress? {
        guard let service = characteristics[path]?.service, let device = services[service]?.device else { return nil }
        return devices[device]?.address
    }

    private func characteristics(below service: String, among paths: [String]) -> [BluetoothUUID: Characteristic] {
        var found: [BluetoothUUID: Characteristic] = [:]
        for path in paths {
            guard let object = characteristics[path], object.service == service, let uuid = object.uuid else {
                continue
            }
            found[uuid] = Characteristic(path: path, properties: object.properties)
        }
        return found
    }

    // MARK: Bounds

    /// Whether another object may be added. Counts it if it is a service or a characteristic.
    private mutating func makeRoom(for values: [String: DBusValue], at path: String, _ interface: String) -> Bool {
        switch interface {
        case BlueZNames.device:
            return devices.count < Self.mostDevices || values["Paired"]?.flag == true
                || values["Connected"]?.flag == true
        case BlueZNames.gattService, BlueZNames.gattCharacteristic:
            let device = Self.device(of: path)
            guard gattObjects[device]?.count ?? 0 < Self.mostGATTObjects else { return false }
            gattObjects[devices.storedKey(device), default: []].append(path)
            return true
        default: return true
        }
    }

    private mutating func releaseRoom(of path: String) {
        let device = Self.device(of: path)
        guard var paths = gattObjects[device] else { return }
        paths.removeAll { $0 == path }
        gattObjects[device] = paths.isEmpty ? nil : paths
    }

    /// Returns the path of the device, `/org/bluez/hci0/dev_…`: the prefix of the paths of its services and
    /// characteristics.
    private static func device(of path: String) -> String {
        var slashes = 0
        for index in path.utf8.indices where path.utf8[index] == UInt8(ascii: "/") {
            slashes += 1
            if slashes == 5 { return String(path[..<index]) }
        }
        return path
    }

    // MARK: The index

    /// Updates the index. The address of a device may change when it is bonded; its path does not.
    private mutating func index(_ path: String, before old: BluetoothAddress?) {
        forgetIndex(path, old)
        if let address = devices[path]?.address { paths[address, default: []].insert(path) }
    }

    private mutating func indexConnection(of path: String) {
        guard let device = devices[path] else { return }
        if device.isConnected {
            connectedDevices[device.adapter, default: []].insert(path)
        } else {
            connectedDevices[device.adapter]?.remove(path)
        }
    }

    private mutating func removeDevice(_ path: String) {
        forgetIndex(path, devices[path]?.address)
        if let device = devices.removeValue(forKey: path) { connectedDevices[device.adapter]?.remove(path) }
    }

    private mutating func forgetIndex(_ path: String, _ address: BluetoothAddress?) {
        guard let address, let known = paths[address] else { return }
        paths[address] = known == [path] ? nil : known.subtracting([path])
    }
}

extension Dictionary where Key == String {
    /// Returns the dictionary's own copy of a key; the given one if it has none. Equal texts that are stored in several
    /// places then share their memory.
    fileprivate func storedKey(_ key: String) -> String {
        index(forKey: key).map { keys[$0] } ?? key
    }
}
