public import JacquardProtocol

/// Something that people want to see of a simulated tag.
public struct SimulatorEvent: Hashable, Sendable {
    /// What happened.
    public enum Kind: Hashable, Sendable {
        /// A client command with a visible or audible effect.
        case told(Told)
        /// A host has connected.
        case connected
        /// The link has gone.
        case disconnected
        /// The host has switched notifications on, or off.
        case subscribed(TagCharacteristic, isOn: Bool)
        /// Several gestures or touches were made: how many, and how many values of them found no room.
        case burst(sent: Int, dropped: Int)
    }

    /// Serial of the tag.
    public let tag: String
    /// What happened.
    public let kind: Kind
}
