/// The words of a typed line, taken from the left.
struct CommandWords {
    private var words: ArraySlice<String>

    init(_ line: some StringProtocol) {
        let blanks: Set<Character> = [" ", "\t", "\r"]
        words = ArraySlice(line.split { blanks.contains($0) }.map { String($0) })
    }

    /// The next word, which stays.
    func peek() -> String? { words.first }

    /// Takes the next word.
    mutating func next() -> String? { words.popFirst() }

    /// Takes the tag or the tags that a command is for.
    mutating func selection(for verb: String) throws(CommandError) -> TagSelection {
        guard let word = next() else {
            throw CommandError("\(verb) needs a tag's serial or address, or * for all tags")
        }
        if word == "*" { return .all }
        return word.contains(":") ? .address(word.uppercased()) : .serial(word)
    }

    /// Takes a number, if there is another word.
    mutating func number(_ name: String, in range: ClosedRange<Int>) throws(CommandError) -> Int? {
        guard let word = next() else { return nil }
        guard let number = Int(word), range.contains(number) else {
            throw CommandError("'\(word)' is no \(name); \(name) is \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Takes one of the given words.
    mutating func choice<Value>(_ verb: String, _ choices: [String: Value]) throws(CommandError) -> Value {
        let word = next() ?? ""
        guard let value = choices[word] else {
            throw CommandError("\(verb) takes \(choices.keys.sorted().joined(separator: " or ")), not '\(word)'")
        }
        return value
    }

    /// Takes how often, and how many a second.
    mutating func burst(_ content: Burst.Content) throws(CommandError) -> Burst {
        let count = try number("COUNT", in: 1...10_000_000) ?? 1
        guard let word = next() else { return Burst(content, count: count) }
        guard let rate = Double(word), rate > 0, rate <= 1_000_000 else {
            throw CommandError("'\(word)' is no RATE; RATE is how many a second, above 0")
        }
        return Burst(content, count: count, rate: rate)
    }

    /// Refuses words that nothing has taken.
    func expectEnd() throws(CommandError) {
        if let word = words.first { throw CommandError("'\(word)' is too much here") }
    }
}
