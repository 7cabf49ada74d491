import Time

/// The pauses between connection attempts: doubled each time up to a limit, with random jitter so that many tags don't
/// retry at the same time.
///
/// The SDK retries at once. The pause keeps a tag that refuses connections from occupying the radio.
struct ReconnectSchedule: Sendable {
    /// The first pause, without jitter.
    static let first = Duration.milliseconds(500)
    /// The longest pause, without jitter.
    static let limit = Duration.seconds(60)
    /// The longest pause after a link that had reached `connected`, including jitter. It is shorter because the tag
    /// is present.
    static let limitOnceConnected = Duration.seconds(8)

    private var backoff = Backoff(first: Self.first, longest: Self.limit)
    private var randomness: SplitMix

    /// - Parameter seed: seed of the jitter; equal seeds give equal pauses.
    init(seed: UInt64) {
        randomness = SplitMix(seed: seed)
    }

    /// Returns the pause after one more failure: 75 to 125 % of the doubled pause.
    mutating func next() -> Duration {
        backoff.next() * Double.random(in: 0.75...1.25, using: &randomness)
    }

    /// Returns the pause after the loss of a link that had reached `connected`. Later pauses continue from it.
    mutating func nextOnceConnected() -> Duration {
        backoff.lower(to: Self.limitOnceConnected)
        return min(next(), Self.limitOnceConnected)
    }

    /// Starts again with the first pause.
    mutating func reset() {
        backoff.reset()
    }
}
