public import Time

/// The state of a connection with the SDK's step numbers, and the last error.
///
/// Source: JacquardSDKiOS, `TagConnectionState`; the numbers are those of the protocol article, "Steps".
public struct TagConnection: Equatable, Sendable {
    /// The SDK's states.
    public enum State: Equatable, Sendable {
        /// No link: before the first attempt and between attempts.
        case preparingToConnect
        /// The link is up; service, characteristics and notifications are being set up. Steps 0 to 4.
        case connecting(step: Int)
        /// Hello, begin and device information. Steps 5 to 9, or 6 to 10 if hello had to be repeated.
        case initializing(step: Int)
        /// The tag is being configured. Step 10, or 11 if hello had to be repeated.
        case configuring(step: Int)
        /// The tag accepts commands.
        case connected
        /// Final: requested, or not recoverable.
        case disconnected

        /// Whether there is a link.
        public var isLinked: Bool {
            switch self {
            case .connecting, .initializing, .configuring, .connected: true
            case .preparingToConnect, .disconnected: false
            }
        }
    }

    /// The number of steps that the SDK reports, although an ordinary connection ends at step 10.
    public static let totalSteps = 14

    /// The state.
    public var state: State
    /// The number of attempts since the tag was last connected, starting at 1.
    public var attempt: Int
    /// In `preparingToConnect`, why the previous attempt or connection failed. In `disconnected`, why the state is
    /// final.
    ///
    /// Nil without an error, and in all other states.
    public var error: TagConnectionError?
    /// When the next attempt starts, if the session is waiting for it.
    public var retryAt: Instant?

    /// Creates a connection state.
    public init(
        state: State, attempt: Int, error: TagConnectionError? = nil, retryAt: Instant? = nil
    ) {
        self.state = state
        self.attempt = attempt
        self.error = error
        self.retryAt = retryAt
    }
}

/// Why a connection failed: the SDK's code, and the error of the Bluetooth stack.
public struct TagConnectionError: Error, Equatable, Sendable {
    /// The SDK's error codes.
    public enum Code: Equatable, Sendable, CaseIterable {
        /// The tag's response lacks a required field, or the tag uses another protocol version.
        case malformedResponseError
        /// An error of the Bluetooth stack without a more specific code.
        case unknownBluetoothError
        /// No link could be made, or it was lost.
        case bluetoothConnectionError
        /// Notifications of a characteristic could not be enabled.
        case bluetoothNotificationUpdateError
        /// The tag's service is missing.
        case serviceDiscoveryError
        /// A characteristic is missing or lacks a property.
        case characteristicDiscoveryError
        /// The tag failed during hello, begin, device information or configuration.
        case jacquardInitializationError
        /// The device is not known to the Bluetooth stack.
        case bluetoothDeviceNotFound
        /// The device is not a tag that can be connected.
        case unconnectableTag
        /// Bluetooth is off.
        case bluetoothPowerOff
        /// Link and discovery took too long.
        case connectionTimeout
        /// Another program on this host uses the tag. Not in the SDK.
        case inUse
        /// The Bluetooth stack accepts no subscription until it is restarted. Not in the SDK.
        case subscriptionStuck
        /// The tag has lost its bond with this host.
        case peerRemovedPairingInfo
    }

    /// The error code.
    public var code: Code
    /// A readable description.
    public var text: String
    /// The error name of the Bluetooth stack, such as `org.bluez.Error.Failed`; nil if there is none.
    public var stackName: String?

    /// How the link ended; nil if none has, or if the Bluetooth stack does not say.
    public var linkEnd: LinkEnd?

    /// Creates an error.
    public init(_ code: Code, _ text: String, stackName: String? = nil, linkEnd: LinkEnd? = nil) {
        self.code = code
        self.text = text
        self.stackName = stackName
        self.linkEnd = linkEnd
    }
}

/// How a link ended.
public enum LinkEnd: Equatable, Sendable, CaseIterable {
    /// The tag has ended it.
    case remote
    /// Nothing was received any more.
    case timeout
    /// This host has ended it.
    case local
}

/// An event of a tag's session.
public enum TagEvent: Equatable, Sendable {
    /// The connection changed.
    case connection(TagConnection)
    /// The tag's device information: before `connected` in each connection, and after each request for it.
    case information(Component)
    /// The battery status, requested or not.
    case battery(BatteryStatus)
    /// Gear was attached or detached, or more is known about it; nil if no gear is attached.
    case gear(Component?)
    /// The touch mode of the attached gear changed.
    case touchMode(TouchMode)
    /// A gesture.
    case gesture(Gesture)
    /// A touch sample.
    case touch(TouchData)
    /// A packet from the tag was dropped because a fragment was missing, or because it was invalid.
    case fragmentsLost
    /// A notification with the bodies that no command of the session has waited for. It has an error only while the motion module is
    /// active.
    indirect case notified(Notification)
    /// Raw data, in one of the requested views.
    case raw([UInt8], view: RawViews)
    /// Motion data.
    case motion(MotionReport)
    /// A command has ended. Sent exactly once per command.
    case commandEnded(token: UInt64, Result<TagCommandResponse, TagCommandError>)
}
