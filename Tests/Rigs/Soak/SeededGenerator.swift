/// Random numbers that come again with their seed: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// One of several, each as often as its weight says.
    mutating func pick<Choice>(_ choices: [(weight: Int, choice: Choice)]) -> Choice? {
        var position = Int.random(in: 0..<max(1, choices.reduce(0) { $0 + $1.weight }), using: &self)
        for (weight, choice) in choices {
            position -= weight
            if position < 0 { return choice }
        }
        return nil
    }

    /// Whether something happens that happens so often in a hundred times.
    mutating func happens(percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }
}
