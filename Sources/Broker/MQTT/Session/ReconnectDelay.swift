internal import Time

/// How long to wait before the next attempt: doubled each time, with jitter, so that the clients of a broker that
/// returns don't connect all at once.
///
/// The pause is between half a step and the whole step. The first step is twice the shortest pause, the last one is the
/// longest pause, so no pause is outside these two.
struct ReconnectDelay {
    private let shortest: Duration
    private let longest: Duration
    private var steps: Backoff

    init(shortest: Duration, longest: Duration) {
        self.shortest = shortest
        self.longest = longest
        steps = Backoff(first: min(shortest * 2, longest), longest: longest)
    }

    /// Returns the pause before the next attempt.
    ///
    /// - Parameters:
    ///   - random: from 0 up to 1.
    ///   - limit: the longest pause at present; nil for no other limit. The steps keep doubling.
    /// - Returns: the pause.
    mutating func next(random: Double, atMost limit: Duration? = nil) -> Duration {
        let limited = min(steps.next(), limit ?? longest)
        return max(shortest, limited / 2 + (limited / 2) * random)
    }

    /// Returns the longest pause without jitter. The next pause is long, too.
    mutating func longestPause() -> Duration {
        steps.skipToLongest()
        return longest
    }

    /// Starts again at the shortest pause.
    mutating func reset() {
        steps.reset()
    }
}
