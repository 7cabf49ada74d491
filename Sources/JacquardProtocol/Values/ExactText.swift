/// A text that equals only a text of the same bytes.
///
/// `String` compares by Unicode equivalence: "é" as one scalar equals "e" with a combining accent. MQTT, files and every
/// peer compare bytes. Topics, ids, and names whose changes must be noticed are values of this type.
public struct ExactText: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The text.
    public let text: String

    /// Wraps a text.
    public init(_ text: String) {
        self.text = text
    }

    /// Copies a part of a text.
    public init(_ text: Substring) {
        self.text = String(text)
    }

    /// Wraps a literal.
    public init(stringLiteral text: String) {
        self.text = text
    }

    /// The text.
    public var description: String { text }

    /// Returns whether both have the same bytes.
    public static func == (left: ExactText, right: ExactText) -> Bool {
        // Element by element, views of UTF-8 take ten times as long, and `elementsEqual` three times.
        var (left, right) = (left.text, right.text)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                left.count == right.count && left.indices.allSatisfy { left[$0] == right[$0] }
            }
        }
    }

    /// Orders texts by their bytes.
    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}

extension ExactText: Encodable {
    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
