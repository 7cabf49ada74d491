import Bridge

extension SlideOptions {
    /// The rows of `slide`.
    static var keys: [ConfigurationKey<Settings>] {
        [
            .section("slide", "The touch mode slide: the place of a finger on the gear, for dimming lights.").option(
                "Slide"),
            ConfigurationKey(
                "slide.enabled", \.bridge.slide.isEnabled, .boolean, .settings,
                """
                Whether the touch mode slide may be used. In this mode the gear streams, which empties the battery of the tag \
                faster, and its own gestures pause.
                """
            ).option("Enabled"),
            ConfigurationKey(
                "slide.idle_min", \.bridge.slide.idleMinutes, .integer(1...1_440), .settings,
                "After how many minutes without a touch the mode ends."
            ).option("Ends after"),
        ]
    }
}
