/// What gear reports while it is touched.
public enum TouchMode: Hashable, Sendable, CaseIterable {
    /// Recognised gestures. Set by the client whenever gear is attached.
    case gesture
    /// The values of the lines, and no gestures.
    case continuous

    /// How many notifications the tag may hold back in this mode; a short queue keeps touch data fresh.
    ///
    /// Source: JacquardSDKiOS, `SetTouchModeCommand`, `notif_queue_depth`.
    public var notificationQueueDepth: UInt32 {
        switch self {
        case .gesture: 14
        case .continuous: 2
        }
    }
}
