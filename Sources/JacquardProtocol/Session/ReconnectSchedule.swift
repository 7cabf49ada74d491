/// How long to wait before the next attempt: twice as long each time up to a limit, spread by a random part so that
/// a room full of tags does not call in step.
///
/// The SDK tries again at once and for ever; the pause keeps a tag that refuses from taking all of the radio's time.
struct ReconnectSchedule: Sendable {
    /// The first pause, before the spread.
    static let first = Duration.milliseconds(500)
    /// The longest, before the spread.
    static let limit = Duration.seconds(60)
    /// The longest after a link that had reached `connected`, spread included: the tag is there and worth the radio's time.
    static let limitOnceConnected = Duration.seconds(8)

    private var failures = 0
    private var randomness: SplitMix

    /// - Parameter seed: sets the random part; equal seeds give equal pauses.
    init(seed: UInt64) {
        randomness = SplitMix(state: seed)
    }

    /// The pause after one more failure: 75 to 125 % of the doubled one.
    mutating func next() -> Duration {
        let pause = min(Self.first * (1 << min(failures, 16)), Self.limit)
        failures += 1
        return pause * Double.random(in: 0.75...1.25, using: &randomness)
    }

    /// The pause after the loss of a link that had reached `connected`, however short it was. Later ones go on from there.
    mutating func nextOnceConnected() -> Duration {
        // The failure from which on a pause reaches the limit.
        failures = min(failures, 4)
        return min(next(), Self.limitOnceConnected)
    }

    /// Begins again with the first pause.
    mutating func reset() {
        failures = 0
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): a generator that is a value, so that a machine with chance in it can be tested.
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
