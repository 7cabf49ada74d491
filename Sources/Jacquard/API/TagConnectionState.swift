public import JacquardProtocol

/// Where a connection stands. Source: JacquardSDKiOS, `TagConnectionState`.
///
/// The SDK's four states of a firmware update are missing: its images came from a service that was switched off.
public enum TagConnectionState: Sendable {
    /// The first state, and the one between two attempts: after a loss, or while the tag is not heard. A tag that lies idle
    /// for ten minutes drops its link and comes back by itself when it is moved.
    case preparingToConnect
    /// The link is being set up: step 0 to 4, and the number of steps, always 14.
    case connecting(Int, Int)
    /// The protocol begins: step 5 to 9 (one more with old firmware) of 14.
    case initializing(Int, Int)
    /// The tag is being configured: step 10 (or 11) of 14.
    case configuring(Int, Int)
    /// Commands reach the tag. Not the end: after a loss the next connection brings another ``ConnectedTag``.
    case connected(ConnectedTag)
    /// The end: asked for, and then without an error, or not recoverable.
    case disconnected(TagConnectionError?)

    /// Translates what the core tells; fails for a connected one without its tag.
    init?(_ connection: TagConnection, _ tag: ConnectedTag?) {
        let total = TagConnection.totalSteps
        switch connection.state {
        case .preparingToConnect: self = .preparingToConnect
        case .connecting(let step): self = .connecting(step, total)
        case .initializing(let step): self = .initializing(step, total)
        case .configuring(let step): self = .configuring(step, total)
        case .connected:
            guard let tag else { return nil }
            self = .connected(tag)
        case .disconnected: self = .disconnected(connection.error)
        }
    }
}
