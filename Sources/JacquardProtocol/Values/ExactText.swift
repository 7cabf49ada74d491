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
        let (left, right) = (left.text.utf8Span.span.bytes, right.text.utf8Span.span.bytes)
        return left.isEqual(to: right)
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

extension [UInt8] {
    /// Returns whether both have the same bytes. `==` compares them one by one.
    public func isEqual(to other: [UInt8]) -> Bool { span.bytes.isEqual(to: other.span.bytes) }
}

extension RawSpan {
    /// Compares eight bytes at a time.
    fileprivate func isEqual(to other: RawSpan) -> Bool {
        guard byteCount == other.byteCount else { return false }
        var place = 0
        while place + 8 <= byteCount {
            guard
                unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
                    == other.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
            else { return false }
            place += 8
        }
        while place < byteCount {
            guard
                unsafeLoadUnaligned(fromByteOffset: place, as: UInt8.self)
                    == other.unsafeLoadUnaligned(fromByteOffset: place, as: UInt8.self)
            else { return false }
            place += 1
        }
        return true
    }
}
