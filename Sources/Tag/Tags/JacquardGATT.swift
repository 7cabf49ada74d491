package import Bluetooth
package import JacquardProtocol

/// The UUIDs of a tag's service and characteristics as `BluetoothUUID` values.
package enum JacquardGATT {
    static let service = uuid(JacquardService.uuid)
    static let characteristics = TagCharacteristic.allCases.map(uuid)

    package static func uuid(_ characteristic: TagCharacteristic) -> BluetoothUUID {
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

extension TagConnectionError {
    /// Converts an error of the Bluetooth stack to the SDK's code. Source: JacquardSDKiOS, `TagConnectionError`.
    init(_ error: BluetoothError) {
        let code: Code =
            switch error.code {
            case .notFound: .bluetoothDeviceNotFound
            case .poweredOff: .bluetoothPowerOff
            case .connectionFailed, .canceled, .timeout, .authenticationFailed, .busy: .bluetoothConnectionError
            case .inUse: .inUse
            case .subscriptionStuck: .subscriptionStuck
            case .serviceMissing: .serviceDiscoveryError
            case .characteristicMissing: .characteristicDiscoveryError
            case .notPermitted, .other: .unknownBluetoothError
            }
        self.init(code, error)
    }

    /// Creates an error with a given code and the stack's name and text.
    init(_ code: Code, _ error: BluetoothError) {
        self.init(
            code, error.text, stackName: error.name.isEmpty ? nil : error.name, linkEnd: error.end.map(LinkEnd.init))
    }

    /// The error of a bonded tag that refuses the bond: it was reset, or paired with another host.
    static func bondLost(_ error: BluetoothError) -> TagConnectionError {
        TagConnectionError(
            .peerRemovedPairingInfo,
            "the tag has lost its bond with this host: hold its button for three seconds and pair it again",
            stackName: error.name.isEmpty ? nil : error.name)
    }

    /// The error of a connection requested while Bluetooth is unusable.
    static func unusable(_ state: CentralState) -> TagConnectionError {
        TagConnectionError(
            .bluetoothPowerOff, state == .poweredOff ? "Bluetooth is off" : "Bluetooth cannot be used: \(state)")
    }
}

extension LinkEnd {
    /// Converts the value of the Bluetooth stack.
    init(_ end: BluetoothError.DisconnectReason) {
        self =
            switch end {
            case .remote: .remote
            case .timeout: .timeout
            case .local: .local
            }
    }
}
