/// A text that equals only a text of the same bytes.
///
/// `String` compares by Unicode equivalence: "é" as one scalar equals "e" with a combining accent. MQTT, and every peer, compares
/// bytes. Topics, ids and other names that a peer chooses are keys of this type.
struct ExactText: Hashable, Comparable, Sendable, CustomStringConvertible {
    let text: String

    init(_ text: some StringProtocol) {
        self.text = String(text)
    }

    var description: String { text }

    static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    /// In the order of the bytes.
    static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: text)
    }
}

extension String {
    /// Whether both have the same bytes; `==` ignores how characters are composed.
    func hasSameBytes(as other: String) -> Bool {
        // Element by element, views of UTF-8 take ten times as long.
        var (left, right) = (self, other)
        return left.withUTF8 { left in right.withUTF8 { left.count == $0.count && left.elementsEqual($0) } }
    }

    /// The levels of a topic: the text between the bytes of `/`. A combining character behind a slash belongs to its level.
    var topicLevels: [Substring] {
        utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0) }
    }

    /// What follows a level of a topic, or several; nil for a topic elsewhere.
    func topic(below levels: String) -> Substring? {
        let (bytes, prefix) = (utf8, levels.utf8)
        guard bytes.starts(with: prefix) else { return nil }
        let rest = bytes.dropFirst(prefix.count)
        guard rest.first == UInt8(ascii: "/") else { return nil }
        return Substring(rest.dropFirst())
    }
}

extension Hasher {
    /// Feeds the bytes of a text as they are.
    mutating func combine(bytesOf text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
        combine(0xFF as UInt8)
    }
}
