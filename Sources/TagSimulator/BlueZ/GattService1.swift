import DBus
import EventLoop

/// `org.bluez.GattService1`
@LoopActor
final class GattService1: BusObject {
    static let interface = "org.bluez.GattService1"

    let path: String
    let characteristics: [GattCharacteristic1]
    private let service: GATTService
    private let device: String

    /// Numbers the service and what is in it by handles, as on a real device.
    init(_ service: GATTService, firstHandle: Int, of device: Device1) {
        self.service = service
        self.device = device.path
        let path = device.path + "/service" + Self.hex(firstHandle)
        self.path = path
        var handle = firstHandle + 1
        characteristics = service.characteristics.map { characteristic in
            defer { handle += characteristic.flags.contains("notify") ? 3 : 2 }
            return GattCharacteristic1(
                characteristic, path: path + "/char" + Self.hex(handle), service: path, device: device)
        }
    }

    var interfaces: [BusInterface] {
        [
            BusInterface(
                name: Self.interface,
                properties: [
                    BusProperty("UUID", "s") { .string(self.service.uuid) },
                    BusProperty("Device", "o") { .objectPath(self.device) },
                    BusProperty("Primary", "b") { .boolean(true) },
                    BusProperty("Includes", "ao") { .array([], element: "o") },
                ])
        ]
    }

    private static func hex(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
