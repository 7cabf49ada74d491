/// The tag's name in topics: one topic level that never changes, by default the tag's serial. Ids are compared as
/// bytes.
public struct TagID: Hashable, Sendable, CustomStringConvertible {
    /// Maximum length in bytes of UTF-8.
    public static let longest = 64

    /// The topic level.
    public let text: String

    /// Creates an id from 1 to 64 bytes of UTF-8 without `/`, `+`, `#` and control characters.
    ///
    /// - Returns: nil for anything else.
    public init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count), !text.utf8.contains(where: Self.isForbidden) else {
            return nil
        }
        self.text = text
    }

    /// The topic level.
    public var description: String { text }

    /// Returns whether both have the same bytes.
    public static func == (left: TagID, right: TagID) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: text)
    }

    private static func isForbidden(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || [UInt8(ascii: "/"), UInt8(ascii: "+"), UInt8(ascii: "#")].contains(byte)
    }
}
