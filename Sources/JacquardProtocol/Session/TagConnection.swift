public import Time

/// Where a connection stands: the SDK's state with its step numbers, and what went wrong last.
///
/// Source: JacquardSDKiOS, `TagConnectionState`; the numbers are those of the protocol article, "Steps".
public struct TagConnection: Hashable, Sendable {
    /// The SDK's states.
    public enum State: Hashable, Sendable {
        /// The first state, and the one between two attempts.
        case preparingToConnect
        /// The link is up; service, characteristics and notifications are being set up. Steps 0 to 4.
        case connecting(step: Int)
        /// Hello, begin and device information. Steps 5 to 9, one more where hello had to be repeated.
        case initializing(step: Int)
        /// The tag is being configured. Step 10, or 11 where hello had to be repeated.
        case configuring(step: Int)
        /// Commands reach the tag.
        case connected
        /// Final: asked for, or not recoverable.
        case disconnected

        /// Whether there is a link.
        public var isLinked: Bool {
            switch self {
            case .connecting, .initializing, .configuring, .connected: true
            case .preparingToConnect, .disconnected: false
            }
        }
    }

    /// The SDK always gives this as the number of steps, although an ordinary connection ends at 10.
    public static let totalSteps = 14

    /// The state.
    public var state: State
    /// The number of this attempt since the tag was last connected, from 1.
    public var attempt: Int
    /// While preparing: why the attempt or connection before this one failed. When disconnected: why that is final.
    ///
    /// Nil when nothing went wrong, and in all other states.
    public var error: TagConnectionError?
    /// When the next attempt begins, if the session is waiting for it.
    public var retryAt: Instant?

    /// Describes a connection.
    public init(
        state: State, attempt: Int, error: TagConnectionError? = nil, retryAt: Instant? = nil
    ) {
        self.state = state
        self.attempt = attempt
        self.error = error
        self.retryAt = retryAt
    }
}

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
