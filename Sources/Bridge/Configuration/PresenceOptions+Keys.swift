import Bridge

extension PresenceOptions {
    /// The rows of `presence`. `enabled` is read last, because it overrides what `away_after_s` implies.
    static var keys: [ConfigurationKey<Settings>] {
        [
            .section("presence", "Whether tags are near.").option("Presence"),
            ConfigurationKey(
                "presence.away_after_s", \.bridge.presence.givenAwayAfter, .wholeSeconds(10...3600), .settings,
                """
                A tag is gone after so many seconds without a message since its link was lost. Setting it enables \
                presence.
                """
            ).option("Away after"),
            ConfigurationKey(
                "presence.enabled", \.bridge.presence.isEnabled, .boolean, .settings,
                "Whether to publish if a tag is here, asleep or gone."
            ).option("Enabled"),
        ]
    }
}

extension PresenceOptions {
    /// The value of `away_after_s`; setting it switches presence on.
    fileprivate var givenAwayAfter: Duration {
        get { awayAfter }
        set { (isEnabled, awayAfter) = (true, newValue) }
    }
}
