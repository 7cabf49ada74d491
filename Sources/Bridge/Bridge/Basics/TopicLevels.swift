/// The levels of a topic below a prefix: the texts between its slashes, by their places in its UTF-8. A topic is compared
/// before any level is needed as text, and a list of substrings takes longer than all else about it.
///
/// A combining character behind a slash belongs to its level.
struct TopicLevels {
    /// The most levels that a topic of the bridge has below the base topic.
    private static let most = 5

    private let topic: String
    /// The beginning of each level, and of another one behind the last.
    private var starts = InlineArray<6, Int>(repeating: 0)
    /// The number of levels.
    private(set) var count = 0

    /// Splits a topic.
    ///
    /// - Returns: nil for a topic that does not lie below the prefix, or has too many levels.
    init?(_ topic: String, below prefix: String) {
        guard topic.isTopic(below: prefix) else { return nil }
        self.topic = topic
        let bytes = topic.utf8Span.span
        starts[0] = prefix.utf8.count + 1
        for index in starts[0]...bytes.count where index == bytes.count || bytes[index] == UInt8(ascii: "/") {
            guard count < Self.most else { return nil }
            count += 1
            starts[count] = index + 1
        }
    }

    /// The text of a level.
    subscript(level: Int) -> Substring { topic[place(starts[level])..<place(starts[level + 1] - 1)] }

    /// Returns levels as a text of their own, with the slashes between them: a substring would have to be copied.
    func copy(_ levels: Range<Int>) -> String { copy(bytes: starts[levels.lowerBound]..<end(of: levels)) }

    /// Returns the topic up to a level, with another one behind.
    ///
    /// - Parameters:
    ///   - level: the level.
    ///   - word: the other level, with the slash before it.
    /// - Returns: a topic.
    func topic(through level: Int, and word: StaticString) -> String {
        copy(bytes: 0..<end(of: level..<level + 1), and: word)
    }

    private func end(of levels: Range<Int>) -> Int { starts[levels.upperBound] - 1 }

    private func copy(bytes range: Range<Int>, and word: StaticString = "") -> String {
        let count = range.count + word.utf8CodeUnitCount
        return String(unsafeUninitializedCapacity: count) { buffer in
            topic.utf8Span.span.withUnsafeBufferPointer { _ = buffer.update(fromContentsOf: $0[range]) }
            word.withUTF8Buffer { _ = buffer[range.count...].update(fromContentsOf: $0) }
            return count
        }
    }

    /// Returns whether a level is a word.
    func has(_ word: StaticString, at level: Int) -> Bool {
        let start = starts[level]
        guard starts[level + 1] - 1 - start == word.utf8CodeUnitCount else { return false }
        let bytes = topic.utf8Span.span
        return word.withUTF8Buffer { word in word.indices.allSatisfy { bytes[start + $0] == word[$0] } }
    }

    private func place(_ offset: Int) -> String.Index { topic.utf8.index(topic.startIndex, offsetBy: offset) }
}

extension String {
    /// Whether it is a topic below a level, or several.
    func isTopic(below levels: String) -> Bool {
        let (bytes, prefix) = (utf8Span.span, levels.utf8Span.span)
        guard bytes.count > prefix.count, bytes[prefix.count] == UInt8(ascii: "/") else { return false }
        return prefix.indices.allSatisfy { bytes[$0] == prefix[$0] }
    }

    /// The part of a topic behind a level, or several; nil for a topic elsewhere.
    func topic(below levels: String) -> Substring? {
        guard isTopic(below: levels) else { return nil }
        return self[utf8.index(startIndex, offsetBy: levels.utf8.count + 1)...]
    }
}
