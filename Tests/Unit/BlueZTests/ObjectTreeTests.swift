import Bluetooth
import DBus
import Testing

@testable import BlueZ

@Suite("Object tree")
struct ObjectTreeTests {
    private static let adapter = "/org/bluez/hci0"
    private static let device = adapter + "/dev_F0_00_00_00_00_01"
    private static let uuid = DBusValue.string(CentralBench.service.description)

    private var tree: ObjectTree {
        var tree = ObjectTree()
        tree.apply(["Powered": .boolean(true)], to: Self.adapter, BlueZNames.adapter)
        tree.apply(
            [
                "Address": .string("F0:00:00:00:00:01"), "Adapter": .objectPath(Self.adapter),
                "RSSI": .int16(-50), "Name": .string("Jacquard"), "UUIDs": .strings([CentralBench.service.description]),
                "ManufacturerData": .dictionary([(.uint16(224), .variant(.bytes([1, 2])))], key: "q", value: "v"),
            ], to: Self.device, BlueZNames.device)
        return tree
    }

    @Test("keeps the relevant properties of a device")
    func device() throws {
        let found = try #require(tree.device(CentralBench.address(1), of: Self.adapter))
        #expect(found.path == Self.device)
        #expect(
            found.object.advertisement
                == Advertisement(name: "Jacquard", manufacturerData: [224: [1, 2]], rssi: -50))
        #expect(found.object.services == [CentralBench.service])
        #expect(tree.device(CentralBench.address(1), of: "/org/bluez/hci1") == nil)
        #expect(tree.device(CentralBench.address(2), of: Self.adapter) == nil)
    }

    @Test("updates a device whose address changes, and removes one that BlueZ removes")
    func address() {
        var tree = tree
        tree.apply(["Address": .string("F0:00:00:00:00:02")], to: Self.device, BlueZNames.device)
        #expect(tree.device(CentralBench.address(1), of: Self.adapter) == nil)
        #expect(tree.device(CentralBench.address(2), of: Self.adapter)?.path == Self.device)
        tree.remove([BlueZNames.device], of: Self.device)
        #expect(tree.device(CentralBench.address(2), of: Self.adapter) == nil)
        tree.apply(["Address": .string("F0:00:00:00:00:03")], to: Self.device, BlueZNames.device)
        #expect(tree.device(CentralBench.address(2), of: Self.adapter) == nil)
    }

    @Test("contains the interfaces of an object that it keeps, and no other interface or object")
    func contains() {
        #expect(tree.contains(Self.device, BlueZNames.device))
        #expect(tree.contains(Self.adapter, BlueZNames.adapter))
        #expect(!tree.contains(Self.device, BlueZNames.adapter))
        #expect(!tree.contains(Self.device, "org.bluez.Battery1"))
        #expect(!tree.contains(Self.device + "2", BlueZNames.device))
    }

    @Test("removes the signal strength of a device when BlueZ does")
    func strength() {
        var tree = tree
        tree.invalidate(["RSSI"], of: Self.device, BlueZNames.device)
        #expect(tree.devices[Self.device]?.rssi == nil)
        #expect(tree.devices[Self.device]?.isInRange == false)
    }

    @Test("ignores values of a wrong type and unknown interfaces")
    func wrongTypes() {
        var tree = tree
        tree.apply(
            ["Address": .uint16(1), "RSSI": .string("loud"), "Connected": .string("yes"), "UUIDs": .boolean(true)],
            to: Self.device, BlueZNames.device)
        tree.apply(["Address": .string("x")], to: "/a", "org.bluez.Media1")
        #expect(tree.devices[Self.device]?.rssi == -50)
        #expect(tree.devices[Self.device]?.isConnected == false)
        #expect(tree.devices.count == 1)
    }

    @Test("uses the service with more characteristics if two have the same UUID")
    func services() {
        var tree = tree
        for (name, count) in [("service0001", 0), ("service0002", 2), ("service0003", 1)] {
            let path = Self.device + "/" + name
            tree.apply(["UUID": Self.uuid, "Device": .objectPath(Self.device)], to: path, BlueZNames.gattService)
            for number in 0..<count {
                tree.apply(
                    [
                        "UUID": .string("d2f2eab\(number)-d165-445c-b0e1-2d6b642ec57b"), "Service": .objectPath(path),
                        "Flags": .strings(["notify", "write"]),
                    ], to: "\(path)/char\(number)", BlueZNames.gattCharacteristic)
            }
        }
        let found = tree.characteristics(of: CentralBench.service, on: Self.device)
        #expect(found?.values.map(\.path).sorted() == ["0", "1"].map { Self.device + "/service0002/char" + $0 })
        #expect(found?.values.allSatisfy { $0.properties == [.notify, .write] } == true)
        #expect(tree.characteristics(of: CentralBench.notify, on: Self.device) == nil)
    }

    @Test("limits the number of devices, except bonded or connected ones")
    func deviceBound() {
        var tree = ObjectTree()
        for number in 0..<5_000 {
            tree.apply(["RSSI": .int16(-60)], to: "/org/bluez/hci0/dev_\(number)", BlueZNames.device)
        }
        #expect(tree.devices.count == 4_096)
        tree.apply(["Paired": .boolean(true)], to: "/org/bluez/hci0/dev_bonded", BlueZNames.device)
        tree.apply(["Connected": .boolean(true)], to: "/org/bluez/hci0/dev_linked", BlueZNames.device)
        #expect(tree.devices.count == 4_098)
    }

    @Test("limits the number of services and characteristics of each device, and reuses freed places")
    func gattBound() {
        var tree = ObjectTree()
        for device in ["dev_1", "dev_2"] {
            for number in 0..<1_000 {
                let path = "/org/bluez/hci0/\(device)/service\(number)"
                tree.apply([:], to: path, BlueZNames.gattService)
                tree.apply([:], to: path + "/char1", BlueZNames.gattCharacteristic)
            }
        }
        #expect(tree.services.count + tree.characteristics.count == 2 * 256)
        tree.remove([BlueZNames.gattService], of: "/org/bluez/hci0/dev_1/service0")
        for number in 2_000..<2_010 {
            tree.apply([:], to: "/org/bluez/hci0/dev_1/service\(number)", BlueZNames.gattService)
        }
        #expect(tree.services.count + tree.characteristics.count == 2 * 256)
        for path in Array(tree.services.keys) { tree.remove([BlueZNames.gattService], of: path) }
        for path in Array(tree.characteristics.keys) { tree.remove([BlueZNames.gattCharacteristic], of: path) }
        #expect(tree.services.isEmpty && tree.characteristics.isEmpty)
    }

    @Test("assumes nothing about an object that BlueZ has not reported")
    func defaults() throws {
        var tree = ObjectTree()
        let characteristic = Self.device + "/service0001/char0002"
        for (path, interface) in [
            (Self.adapter, BlueZNames.adapter), (Self.device, BlueZNames.device),
            (characteristic, BlueZNames.gattCharacteristic),
        ] {
            tree.apply([:], to: path, interface)
        }
        let adapter = try #require(tree.adapters[Self.adapter])
        #expect(!adapter.isPowered && !adapter.isDiscovering)
        let device = try #require(tree.devices[Self.device])
        #expect(!device.isConnected && !device.isPaired && !device.isResolved && !device.isInRange)
        let object = try #require(tree.characteristics[characteristic])
        #expect(!object.isNotifying && !object.isNotifyAcquired && !object.isReadable && object.properties == [])
    }
}
