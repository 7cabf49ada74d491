/// An allowed word of a value, and its meaning.
struct Word<Meaning> {
    let text: String
    let meaning: Meaning

    init(_ text: String, _ meaning: Meaning) {
        self.text = text
        self.meaning = meaning
    }
}

extension Word: Sendable where Meaning: Sendable {}

extension Array {
    /// The words, for error texts.
    func listed<Meaning>() -> String where Element == Word<Meaning> {
        map(\.text).joined(separator: ", ")
    }
}
