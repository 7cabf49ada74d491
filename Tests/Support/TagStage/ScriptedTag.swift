package import Bluetooth
package import JacquardProtocol

/// A tag on the air, with the requests that it has received: enough to answer the last one that was written to it.
package struct ScriptedTag {
    package let address: BluetoothAddress
    private let serial: PairingSerial
    private let name: String
    private var ears = Reassembler()
    private var lastID: UInt32 = 0
    /// Whether a write waits for its confirmation.
    package private(set) var isOwedConfirmation = false

    package init(_ number: Int, serial: PairingSerial, name: String = "Desk") {
        address = .number(number)
        self.serial = serial
        self.name = name
    }

    /// Its advertisement.
    package func advertisement(
        rssi: Int? = -60, name: String? = nil, isPaired: Bool = false, isConnected: Bool = false
    ) -> Advertisement {
        Advertisement(
            name: name ?? self.name,
            manufacturerData: [PairingSerial.companyIdentifier: serial.manufacturerData], rssi: rssi,
            isPaired: isPaired, isConnected: isConnected)
    }

    /// A fragment was written to it.
    package mutating func hear(_ fragment: [UInt8]) {
        isOwedConfirmation = true
        guard case .packet(let packet) = ears.receive(fragment), let heard = try? Request.decode(packet) else { return }
        lastID = heard.id
    }

    /// The write was confirmed.
    package mutating func confirm() {
        isOwedConfirmation = false
    }

    /// Its answer to the last request, as the values that its characteristic notifies.
    package func answer(_ body: Response.Body?, _ status: Status) -> [[UInt8]] {
        let response = Response(id: lastID, status: status, componentID: 0, body: body)
        return (try? Fragmenter.fragments(of: response.encoded())) ?? []
    }

    /// The answers of a tag to hello, begin, device information and configuration.
    package static let start: [Response.Body] = [
        .hello(HelloResponse(protocolMinimum: 2, protocolMaximum: 2, vendor: "Google Inc.", model: "UJT")),
        .begin(BeginResponse()),
        .deviceInfo(information),
        .config(TagConfiguration(ble: BLEConfiguration())),
    ]

    package static let information: DeviceInfoResponse = {
        var information = DeviceInfoResponse(vendor: "Google Inc.", model: "UJT", revision: 4, uuid: "tag-1")
        information.firmware = FirmwareVersion(1, 96, 0)
        return information
    }()

    /// A Patch B0, which can do everything, attached under a number.
    package static func gear(_ componentID: UInt32 = 101) -> Notification {
        .attached(
            AttachedNotification(
                vendorID: .google, productID: JacquardIdentifier(rawValue: 0x092F_41AB), componentID: componentID))
    }
}

extension BluetoothAddress {
    /// `F0:00:00:00:00:01` and so on.
    package static func number(_ number: Int) -> BluetoothAddress {
        let text = String(number, radix: 16)
        guard let address = BluetoothAddress("F0:00:00:00:00:" + (number < 16 ? "0" : "") + text) else {
            preconditionFailure("tests have fewer than 256 devices")
        }
        return address
    }

    /// The last two digits of its identifier, which differ for each device of a test.
    package var short: String { String(description.suffix(2)) }
}

extension PairingSerial {
    /// The serial of most tests.
    package static let desk = make("003R")
    /// Another one.
    package static let attic = make("0086")

    private static func make(_ text: String) -> PairingSerial {
        guard let serial = PairingSerial(text) else { preconditionFailure("serials of tests are right") }
        return serial
    }
}
