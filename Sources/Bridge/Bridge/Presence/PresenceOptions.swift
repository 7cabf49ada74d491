/// The settings of presence.
public struct PresenceOptions: Hashable, Sendable {
    /// Whether it is published.
    public var isEnabled: Bool
    /// How long a tag may be silent after its link was lost before it is gone.
    public var awayAfter: Duration

    /// The defaults of the contract.
    public init(isEnabled: Bool = false, awayAfter: Duration = .seconds(120)) {
        self.isEnabled = isEnabled
        self.awayAfter = awayAfter
    }

    /// How long a tag may be silent before it is gone; nil if presence is not published.
    var limit: Duration? { isEnabled ? awayAfter : nil }
}
