/// Pauses between attempts: each is twice as long as the previous one, up to a limit. Callers add jitter if needed.
public struct Backoff: Sendable {
    private let first: Duration
    private let longest: Duration
    /// The number of pauses since the last reset, at most ``maximumDoublings``.
    private var doublings = 0

    /// The result is far above any limit, and far below the largest `Duration`.
    private static let maximumDoublings = 20

    /// Creates a schedule that starts with the first pause.
    public init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// Whether there was no pause since the last reset. Callers log the first failure only.
    public var isFresh: Bool { doublings == 0 }

    /// Returns the pause after one more failure.
    public mutating func next() -> Duration {
        let pause = pause
        doublings = min(doublings + 1, Self.maximumDoublings)
        return pause
    }

    /// Makes the next pause at most as long as the given one. Later pauses continue from it.
    public mutating func lower(to limit: Duration) {
        while doublings > 0, pause > limit { doublings -= 1 }
    }

    /// Makes the next pause and all later ones the longest.
    public mutating func skipToLongest() {
        doublings = Self.maximumDoublings
    }

    /// Starts again with the first pause.
    public mutating func reset() {
        doublings = 0
    }

    private var pause: Duration { min(first * (1 << doublings), longest) }
}
