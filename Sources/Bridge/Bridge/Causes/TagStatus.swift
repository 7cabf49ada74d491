import JacquardProtocol

/// The state of a tag in one word for people, in `T/connection`.
enum TagStatus: String, Sendable, CaseIterable {
    case connected
    /// A link is being made, or the tag is being set up.
    case connecting
    /// The tag sleeps until it is touched or moved.
    case asleep
    /// The bridge waits until it receives the tag.
    case outOfRange = "out_of_range"
    /// The tag is connected when a command arrives.
    case onDemand = "on_demand"
    /// Bluetooth cannot be used on the bridge's host.
    case bluetoothOff = "bluetooth_off"
    case disconnectedByUser = "disconnected_by_user"
    /// The configuration disables the connection.
    case disabled
    /// The tag has no bond with the host.
    case noBond = "no_bond"
    /// Another program on the host uses the tag.
    case inUse = "in_use"
    /// Attempts to connect the tag fail.
    case failed
    case disconnected

    /// The state of a tag without a link after a failure.
    init(after code: TagConnectionError.Code) {
        self =
            switch code {
            case .bluetoothConnectionError, .bluetoothDeviceNotFound, .connectionTimeout: .outOfRange
            case .bluetoothPowerOff: .bluetoothOff
            case .inUse: .inUse
            case .peerRemovedPairingInfo: .noBond
            case .malformedResponseError, .unknownBluetoothError, .bluetoothNotificationUpdateError,
                .serviceDiscoveryError, .characteristicDiscoveryError, .jacquardInitializationError,
                .unconnectableTag, .subscriptionStuck:
                .failed
            }
    }
}
