/// The settings of the touch mode `slide`.
public struct SlideOptions: Hashable, Sendable {
    /// Whether it may be used.
    public var isEnabled: Bool
    /// After how many minutes without a touch it ends.
    public var idleMinutes: Int

    /// The defaults of the contract.
    public init(isEnabled: Bool = false, idleMinutes: Int = 10) {
        self.isEnabled = isEnabled
        self.idleMinutes = idleMinutes
    }

    /// After which time without a touch it ends; nil if it may not be used.
    var idle: Duration? { isEnabled ? .seconds(60 * idleMinutes) : nil }
}
