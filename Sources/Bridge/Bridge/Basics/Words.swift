public import JacquardProtocol

extension TouchMode {
    /// The mode in topics and commands.
    var word: String {
        switch self {
        case .gesture: "gesture"
        case .continuous: "continuous"
        }
    }
}

extension Capability {
    /// The capability in documents.
    var word: String {
        switch self {
        case .led: "led"
        case .gesture: "gesture"
        case .touchDataStream: "touch_data_stream"
        case .haptic: "haptic"
        }
    }
}

extension TagConnection.State {
    /// The state in documents.
    var word: String {
        switch self {
        case .preparingToConnect: "preparing_to_connect"
        case .connecting: "connecting"
        case .initializing: "initializing"
        case .configuring: "configuring"
        case .connected: "connected"
        case .disconnected: "disconnected"
        }
    }

    /// The SDK's number of the state; nil for states without one.
    var step: Int? {
        switch self {
        case .connecting(let step), .initializing(let step), .configuring(let step): step
        case .preparingToConnect, .connected, .disconnected: nil
        }
    }
}

extension TagConnectionError.Code {
    /// The SDK's name in snake case.
    public var word: String {
        switch self {
        case .malformedResponseError: "malformed_response_error"
        case .unknownBluetoothError: "unknown_bluetooth_error"
        case .bluetoothConnectionError: "bluetooth_connection_error"
        case .bluetoothNotificationUpdateError: "bluetooth_notification_update_error"
        case .serviceDiscoveryError: "service_discovery_error"
        case .characteristicDiscoveryError: "characteristic_discovery_error"
        case .jacquardInitializationError: "jacquard_initialization_error"
        case .bluetoothDeviceNotFound: "bluetooth_device_not_found"
        case .unconnectableTag: "unconnectable_tag"
        case .bluetoothPowerOff: "bluetooth_power_off"
        case .connectionTimeout: "connection_timeout"
        case .peerRemovedPairingInfo: "peer_removed_pairing_info"
        case .inUse: "in_use"
        case .subscriptionStuck: "subscription_stuck"
        }
    }

    /// The remedy for the user.
    var hint: String {
        switch self {
        case .peerRemovedPairingInfo: "The tag has removed its bond with this host; pair it again"
        case .bluetoothPowerOff: "Switch the Bluetooth adapter on"
        case .connectionTimeout, .bluetoothConnectionError:
            "Bring the tag near the adapter, and touch or move it: it stops advertising after 60 seconds"
        case .bluetoothDeviceNotFound: "Scan for the tag, then pair it"
        case .unconnectableTag: "Check the serial and the address in the configuration"
        case .serviceDiscoveryError, .characteristicDiscoveryError:
            "Check that this is a Jacquard tag; if it is, forget it and pair it again"
        case .bluetoothNotificationUpdateError: "Check that no other program or phone uses the tag"
        case .inUse: "Stop the other program that uses the tag, such as a second bridge on this host"
        case .subscriptionStuck: "Restart the Bluetooth service: sudo systemctl restart bluetooth"
        case .jacquardInitializationError, .malformedResponseError:
            "Move the tag to restart it; if that does not help, forget it and pair it again"
        case .unknownBluetoothError: "Check the log of the Bluetooth service; restarting it may help"
        }
    }
}

extension String {
    /// A name of the contract as text: `pair_found` becomes `pair found`.
    public var asWords: String { String(map { $0 == "_" ? " " : $0 }) }
}
