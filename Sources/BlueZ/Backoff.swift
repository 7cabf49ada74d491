/// Pauses between attempts: each twice as long as the one before, up to a limit.
struct Backoff {
    private let first: Duration
    private let longest: Duration
    private var refusals = 0

    init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// Whether nothing has been refused since the last success; what is said once is said then.
    var isFresh: Bool { refusals == 0 }

    /// Counts a refusal.
    ///
    /// - Returns: how long to wait now.
    mutating func next() -> Duration {
        refusals += 1
        // Far below the width of the number, and far above any limit.
        return min(first * (1 << min(refusals - 1, 20)), longest)
    }

    /// It has worked: the next refusal is a first one again.
    mutating func reset() {
        refusals = 0
    }
}
