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

extension Slide {
    static var keys: [FeatureKey] {
        [
            FeatureKey(
                "slide", .section, "The touch mode slide: the place of a finger on the gear, for dimming lights.",
                .option("Slide")),
            FeatureKey(
                "slide.enabled", .flag(\.features.slide.isEnabled),
                """
                Whether the touch mode slide may be used. In this mode the gear streams, which empties the battery of the tag \
                faster, and its own gestures pause.
                """, .option("Enabled")),
            FeatureKey(
                "slide.idle_min", .integer(\.features.slide.idleMinutes, 1...1_440),
                "After how many minutes without a touch the mode ends.", .option("Ends after")),
        ]
    }
}
