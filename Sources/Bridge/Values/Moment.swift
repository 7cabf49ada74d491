public import Time

/// A point in time on two clocks: the monotonic clock for intervals, and the wall clock for payloads.
public struct Moment: Hashable, Sendable {
    /// For intervals and deadlines. Unaffected by wall-clock changes.
    public var instant: Instant
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var unixMilliseconds: Int64

    /// Creates a moment.
    public init(instant: Instant, unixMilliseconds: Int64) {
        self.instant = instant
        self.unixMilliseconds = unixMilliseconds
    }

    /// Returns the moment after a duration.
    public static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(
            instant: moment.instant + duration, unixMilliseconds: moment.unixMilliseconds &+ duration.milliseconds)
    }
}
