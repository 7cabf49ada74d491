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

    private var failures = 0
    private var randomness: SplitMix

    /// - Parameter seed: seed of the jitter; equal seeds give equal pauses.
    init(seed: UInt64) {
        randomness = SplitMix(state: seed)
    }

    /// Returns the pause after one more failure: 75 to 125 % of the doubled pause.
    mutating func next() -> Duration {
        let pause = min(Self.first * (1 << min(failures, 16)), Self.limit)
        failures += 1
        return pause * Double.random(in: 0.75...1.25, using: &randomness)
    }

    /// Returns the pause after the loss of a link that had reached `connected`. Later pauses continue from it.
    mutating func nextOnceConnected() -> Duration {
        // From this failure on, a pause reaches the limit.
        failures = min(failures, 4)
        return min(next(), Self.limitOnceConnected)
    }

    /// Starts again with the first pause.
    mutating func reset() {
        failures = 0
    }
}

/// The SplitMix64 random number generator (Steele, Lea, Flood 2014). A value, so that tests are reproducible.
struct SplitMix: RandomNumberGenerator, Sendable {
    /// The seed; equal seeds give equal numbers.
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
