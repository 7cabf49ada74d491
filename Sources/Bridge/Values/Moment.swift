public import Time

/// "Now", as its caller knows it: a point of the steady clock for intervals, and the time of day for people.
public struct Moment: Hashable, Sendable {
    /// For intervals and deadlines; it stands still for nobody who sets the time of day.
    public var instant: Instant
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var unixMilliseconds: Int64

    /// Puts both together.
    public init(instant: Instant, unixMilliseconds: Int64) {
        self.instant = instant
        self.unixMilliseconds = unixMilliseconds
    }

    /// The moment that lies that much later.
    public static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(
            instant: moment.instant + duration, unixMilliseconds: moment.unixMilliseconds &+ duration.milliseconds)
    }
}
