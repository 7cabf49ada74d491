import Time

extension SplitMix {
    /// Returns one of several values, with probabilities in proportion to their weights.
    mutating func pick<Choice>(_ choices: [(weight: Int, choice: Choice)]) -> Choice? {
        var position = Int.random(in: 0..<max(1, choices.reduce(0) { $0 + $1.weight }), using: &self)
        for (weight, choice) in choices {
            position -= weight
            if position < 0 { return choice }
        }
        return nil
    }

    /// Returns true with this probability.
    mutating func happens(percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }
}
