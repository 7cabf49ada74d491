import Time

/// The sleep of a tag that the user has sent to sleep.
enum TagSleep {
    /// How much earlier than requested a tag may disconnect: the command was on its way.
    private static let haste = Duration.seconds(2)
    /// How long a tag may take to disconnect by itself, beyond the requested time.
    private static let delay = Duration.seconds(10)

    /// When the link of a tag ends that sleeps after a time.
    static func endOfLink(ofTagThatSleepsIn time: Duration, at now: Instant) -> ClosedRange<Instant> {
        now + time - haste...now + time + delay
    }
}
