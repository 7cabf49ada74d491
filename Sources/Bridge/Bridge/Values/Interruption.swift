import JSON

/// A time in which a bridge was not connected to the broker, and has missed all messages, because the broker kept no session.
///
/// Bridges compare it by their wall clocks, which may differ a little.
struct Interruption: Equatable, Sendable {
    /// When the bridge has received its last message before. Milliseconds since 1970-01-01T00:00:00Z.
    let since: Int64
    /// When it was connected again. Milliseconds since 1970-01-01T00:00:00Z.
    let until: Int64

    /// How much later than the bridge another one may have received the last message before the interruption, in milliseconds.
    private static let tolerance: Int64 = 250

    init(since: Timestamp, until: Timestamp) {
        (self.since, self.until) = (since.unixMilliseconds, until.unixMilliseconds)
    }

    /// Reads ``InterruptionDocument``; nil for anything else.
    init?(_ value: JSONValue?) {
        guard let since = value?["since"]?.string.flatMap(TimeText.unixMilliseconds),
            let until = value?["until"]?.string.flatMap(TimeText.unixMilliseconds)
        else { return nil }
        (self.since, self.until) = (since, until)
    }

    /// Whether the bridge has missed a message that another one has received at this time.
    func contains(_ time: Timestamp) -> Bool {
        since &+ Self.tolerance < time.unixMilliseconds && time.unixMilliseconds <= until
    }
}
