/// How long to wait before the next attempt: doubled each time, with jitter, so that the clients of a broker that comes
/// back do not all arrive at once.
///
/// The pause is between half a step and the whole step. The first step is twice the shortest pause, the last one is the
/// longest pause, so no pause is outside these two.
struct ReconnectDelay {
    private let shortest: Duration
    private let longest: Duration
    private var step: Duration

    init(shortest: Duration, longest: Duration) {
        self.shortest = shortest
        self.longest = longest
        step = min(shortest * 2, longest)
    }

    /// The pause before the next attempt; the one after that will be longer. `random` is from 0 up to 1.
    mutating func next(random: Double) -> Duration {
        defer { step = min(step * 2, longest) }
        return max(shortest, step / 2 + (step / 2) * random)
    }

    /// The longest pause without jitter, for a broker that has to be left alone.
    mutating func longestPause() -> Duration {
        step = longest
        return longest
    }

    /// Begins anew, after a success.
    mutating func reset() {
        self = ReconnectDelay(shortest: shortest, longest: longest)
    }
}
