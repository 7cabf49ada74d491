internal import Time

/// How long to wait before the next attempt: doubled each time, with jitter, so that the clients of a broker that returns
/// don't connect all at once.
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

    /// The pause before the next attempt; the one after that is longer.
    ///
    /// - Parameters:
    ///   - random: from 0 up to 1.
    ///   - limit: the longest pause for now; the steps behind it go on to double. nil means no other limit.
    /// - Returns: the pause.
    mutating func next(random: Double, atMost limit: Duration? = nil) -> Duration {
        let limited = min(steps.next(), limit ?? longest)
        return max(shortest, limited / 2 + (limited / 2) * random)
    }

    /// The longest pause without jitter, for a broker that has to be left alone.
    mutating func longestPause() -> Duration {
        steps.skipToLongest()
        return longest
    }

    /// Starts again at the shortest pause.
    mutating func reset() {
        steps.reset()
    }
}
