public import JacquardProtocol

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
        case .connection, .information, .touchMode, .fragmentsLost, .commandEnded: return nil
        }
    }
}
