public import JacquardProtocol

/// The state of a connection. Source: JacquardSDKiOS, `TagConnectionState`.
///
/// The SDK's four states of firmware updates are missing: the service that provided the images no longer exists.
public enum TagConnectionState: Sendable {
    /// No link: before the first attempt, after a lost link, or while the tag does not advertise. An idle tag
    /// disconnects after ten minutes and reconnects when it is moved.
    case preparingToConnect
    /// The link is being set up. The values are the step, 0 to 4, and the number of steps, always 14.
    case connecting(Int, Int)
    /// The protocol is starting: step 5 to 9 of 14, or 6 to 10 with old firmware.
    case initializing(Int, Int)
    /// The tag is being configured: step 10 of 14, or 11 with old firmware.
    case configuring(Int, Int)
    /// The tag accepts commands. After a lost link, the next connection has a new ``ConnectedTag``.
    case connected(ConnectedTag)
    /// The final state: without an error if it was requested, otherwise with an error that no retry can fix.
    case disconnected(TagConnectionError?)

    /// Converts the state of a session; nil for a connected one without its tag.
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

/// A notification from a connected tag. Source: JacquardSDKiOS, `NotificationSubscription` and its implementations.
public enum TagNotification: Hashable, Sendable {
    /// The battery status; also sent once after each connection, and when it was requested.
    case battery(BatteryStatus)
    /// Gear was attached or detached, or more is known about it; nil if no gear is attached.
    case gear(Component?)
    /// A gesture on the gear.
    case gesture(Gesture)
    /// A touch sample, in continuous mode.
    case touch(TouchData)

    /// Converts an event of a session.
    ///
    /// - Returns: nil if the event is not a notification of the tag.
    init?(_ event: TagEvent) {
        switch event {
        case .battery(let battery): self = .battery(battery)
        case .gear(let gear): self = .gear(gear)
        case .gesture(let gesture): self = .gesture(gesture)
        case .touch(let touch): self = .touch(touch)
        default: return nil
        }
    }
}
