public import JSON
public import Time

/// A point in time on two clocks: the monotonic clock for intervals, and the wall clock for payloads.
public struct Timestamp: Hashable, Sendable {
    /// For intervals and deadlines. Unaffected by wall-clock changes.
    public var instant: Instant
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var unixMilliseconds: Int64

    /// Creates a time.
    public init(instant: Instant, unixMilliseconds: Int64) {
        self.instant = instant
        self.unixMilliseconds = unixMilliseconds
    }

    /// Returns the time after a duration.
    public static func + (time: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(
            instant: time.instant + duration, unixMilliseconds: time.unixMilliseconds &+ duration.milliseconds)
    }
}

extension Timestamp {
    /// The time in the contract's format.
    var text: String { TimeText.utc(unixMilliseconds) }
}

extension Timestamp: JSONDocument {
    /// Writes the time in the contract's format.
    public func write(to json: inout JSONWriter) { json.write(text) }
}
