/// Every name of `org.bluez` that the project speaks, once.
///
/// Source: BlueZ 5.66, `doc/adapter-api.txt`, `doc/device-api.txt`, `doc/gatt-api.txt` (since 5.69 `doc/org.bluez.*.rst`).
enum BlueZNames {
    static let service = "org.bluez"
    static let root = "/"
    static let tree = "/org/bluez"

    static let objectManager = "org.freedesktop.DBus.ObjectManager"
    static let properties = "org.freedesktop.DBus.Properties"

    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let gattService = "org.bluez.GattService1"
    static let gattCharacteristic = "org.bluez.GattCharacteristic1"
}
