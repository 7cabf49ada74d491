import Bluetooth
import JacquardProtocol

extension TagConnectionError {
    /// The SDK's name for what the Bluetooth stack says. Source: JacquardSDKiOS, `TagConnectionError`.
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

    /// A code of our own choice, and the stack's words.
    init(_ code: Code, _ error: BluetoothError) {
        self.init(code, error.text, stackName: error.name.isEmpty ? nil : error.name)
    }

    /// A tag that this host has a bond with refuses it: it was reset, or paired elsewhere.
    static func bondLost(_ error: BluetoothError) -> TagConnectionError {
        TagConnectionError(
            .peerRemovedPairingInfo,
            "the tag has lost its bond with this host: forget the tag here, hold its button for three seconds, pair again",
            stackName: error.name.isEmpty ? nil : error.name)
    }

    /// A connection is wanted while Bluetooth cannot be used.
    static func unusable(_ state: CentralState) -> TagConnectionError {
        TagConnectionError(
            .bluetoothPowerOff, state == .poweredOff ? "Bluetooth is off" : "Bluetooth cannot be used: \(state)")
    }
}
