/// "Now", as its caller knows it: a point of the steady clock for intervals, and the time of day for people.
public struct Moment: Hashable, Sendable {
    /// For intervals and deadlines; it stands still for nobody who sets the time of day.
    public var instant: ContinuousClock.Instant
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var unixMilliseconds: Int64

    /// Puts both together.
    public init(instant: ContinuousClock.Instant, unixMilliseconds: Int64) {
        self.instant = instant
        self.unixMilliseconds = unixMilliseconds
    }

    /// The moment that lies that much later.
    public func advanced(by duration: Duration) -> Moment {
        Moment(
            instant: instant.advanced(by: duration),
            unixMilliseconds: unixMilliseconds &+ duration.wholeMilliseconds)
    }
}

extension ContinuousClock.Instant? {
    /// Becomes the earlier of both; nil is never.
    mutating func lower(to other: ContinuousClock.Instant?) {
        guard let other else { return }
        if let instant = self, instant <= other { return }
        self = other
    }
}

extension Duration {
    /// Milliseconds, rounded down towards zero; far durations end at the largest number.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        return milliseconds &+ attoseconds / 1_000_000_000_000_000
    }
}
