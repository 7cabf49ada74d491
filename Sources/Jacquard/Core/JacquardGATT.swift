import Bluetooth
import JacquardProtocol

/// The UUIDs of a tag's service and characteristics as `BluetoothUUID` values.
enum JacquardGATT {
    static let service = uuid(JacquardService.uuid)
    static let characteristics = TagCharacteristic.allCases.map(uuid)

    static func uuid(_ characteristic: TagCharacteristic) -> BluetoothUUID {
        switch characteristic {
        case .command: command
        case .response: response
        case .notify: notify
        case .rawData: rawData
        }
    }

    /// Returns the characteristic with a UUID; nil if it belongs to another service.
    static func characteristic(_ uuid: BluetoothUUID) -> TagCharacteristic? {
        switch uuid {
        case notify: .notify
        case response: .response
        case command: .command
        case rawData: .rawData
        default: nil
        }
    }

    private static let command = uuid(TagCharacteristic.command.uuid)
    private static let response = uuid(TagCharacteristic.response.uuid)
    private static let notify = uuid(TagCharacteristic.notify.uuid)
    private static let rawData = uuid(TagCharacteristic.rawData.uuid)

    private static func uuid(_ text: String) -> BluetoothUUID {
        guard let uuid = BluetoothUUID(text) else { preconditionFailure("not a UUID: \(text)") }
        return uuid
    }
}
