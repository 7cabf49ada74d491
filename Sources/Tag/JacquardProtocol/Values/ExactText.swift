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
            right.withUTF8 { right in UnsafeRawBufferPointer(left).isEqual(to: UnsafeRawBufferPointer(right)) }
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

extension [UInt8] {
    /// Returns whether both have the same bytes. `==` compares them one by one.
    public func isEqual(to other: [UInt8]) -> Bool {
        withUnsafeBytes { bytes in other.withUnsafeBytes { bytes.isEqual(to: $0) } }
    }
}

extension UnsafeRawBufferPointer {
    /// Compares eight bytes at a time.
    fileprivate func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        var place = 0
        while place + 8 <= count {
            guard
                loadUnaligned(fromByteOffset: place, as: UInt64.self)
                    == other.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            else { return false }
            place += 8
        }
        while place < count {
            guard self[place] == other[place] else { return false }
            place += 1
        }
        return true
    }
}
