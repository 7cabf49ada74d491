/// What a tag's session tells the world, in the order in which it happened.
public enum TagEvent: Hashable, Sendable {
    /// The connection changed.
    case connection(TagConnection)
    /// The tag told what it is; for every connection before `connected`, and again when asked.
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
