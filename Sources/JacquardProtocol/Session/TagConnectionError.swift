/// Why a connection failed: the SDK's name for it, and what the Bluetooth stack said.
public struct TagConnectionError: Error, Hashable, Sendable {
    /// The SDK's names.
    public enum Code: Hashable, Sendable, CaseIterable {
        /// A defect of ours: an event that cannot come in this state.
        case internalError
        /// The tag's answer lacks what it must hold, or it speaks another protocol version.
        case malformedResponseError
        /// The Bluetooth stack failed in a way it does not name.
        case unknownBluetoothError
        /// No link could be made, or it was lost.
        case bluetoothConnectionError
        /// A notification could not be switched on.
        case bluetoothNotificationUpdateError
        /// The tag's service is missing.
        case serviceDiscoveryError
        /// A characteristic is missing or lacks a property.
        case characteristicDiscoveryError
        /// The tag did not get through hello, begin, device information and configuration.
        case jacquardInitializationError
        /// The device is not known to the Bluetooth stack.
        case bluetoothDeviceNotFound
        /// What was named is not a tag.
        case unconnectableTag
        /// Bluetooth is off.
        case bluetoothPowerOff
        /// Link and discovery took too long.
        case connectionTimeout
        /// Another program on this host uses the tag. The SDK has no name for it.
        case inUse
        /// The Bluetooth stack accepts no subscription before its restart. The SDK has no name for it.
        case subscriptionStuck
        /// The tag has lost its bond with this host.
        case peerRemovedPairingInfo
    }

    /// Which of them.
    public var code: Code
    /// A sentence for people.
    public var text: String
    /// The error name of the Bluetooth stack, such as `org.bluez.Error.Failed`; nil when it said nothing.
    public var stackName: String?

    /// Describes an error.
    public init(_ code: Code, _ text: String, stackName: String? = nil) {
        self.code = code
        self.text = text
        self.stackName = stackName
    }
}
