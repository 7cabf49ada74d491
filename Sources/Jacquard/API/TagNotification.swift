public import JacquardProtocol

/// What a connected tag tells by itself. Source: JacquardSDKiOS, `NotificationSubscription` and its kinds.
public enum TagNotification: Hashable, Sendable {
    /// The battery; also told once after every connection, and when it was asked for.
    case battery(BatteryStatus)
    /// Gear was attached, again with more known of it, or there is none.
    case gear(Component?)
    /// A gesture was made on the gear.
    case gesture(Gesture)
    /// A touch was sampled, in continuous mode.
    case touch(TouchData)

    /// Picks out what the tag itself has told.
    ///
    /// - Returns: nil for what is no notification of the tag.
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
