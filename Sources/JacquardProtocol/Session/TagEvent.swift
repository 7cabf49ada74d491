/// What a tag's session tells the world, in the order in which it happened.
public enum TagEvent: Hashable, Sendable {
    /// The connection changed.
    case connection(TagConnection)
    /// The tag told what it is; once for every connection, before `connected`.
    case information(Component)
    /// The tag told its battery, asked or unasked.
    case battery(BatteryStatus)
    /// Gear was attached (again with more known of it), or none is.
    case gear(Component?)
    /// The attached gear now reports this.
    case touchMode(TouchMode)
    /// A gesture was made.
    case gesture(Gesture)
    /// A touch was sampled.
    case touch(TouchData)
    /// A packet of the tag was thrown away because a fragment was missing or wrong.
    case fragmentsLost
    /// A command has ended, as the only answer to it.
    case commandEnded(token: UInt64, Result<TagCommandAnswer, TagCommandError>)
}

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
    }

    /// The SDK always gives this as the number of steps, although an ordinary connection ends at 10.
    public static let totalSteps = 14

    /// The state.
    public var state: State
    /// The number of this attempt since the tag was last connected, from 1.
    public var attempt: Int
    /// Why the attempt before this one failed, or why the state is final; nil when nothing went wrong.
    public var error: TagConnectionError?
    /// When the next attempt begins, if the session is waiting for it.
    public var retryAt: ContinuousClock.Instant?

    /// Describes a connection.
    public init(
        state: State, attempt: Int, error: TagConnectionError? = nil, retryAt: ContinuousClock.Instant? = nil
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
