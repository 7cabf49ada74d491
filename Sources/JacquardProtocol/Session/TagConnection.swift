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
