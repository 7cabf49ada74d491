/// The tag's name in topics: one topic level that never changes, by default the tag's serial. Ids are compared as
/// bytes.
public struct TagID: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// Maximum length in bytes of UTF-8.
    public static let longest = 64

    private let exact: ExactText

    /// The topic level.
    public var text: String { exact.text }

    /// Creates an id from 1 to 64 bytes of UTF-8 without `/`, `+`, `#` and control characters.
    ///
    /// - Returns: nil for anything else.
    public init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        let bytes = text.utf8Span.span
        for index in bytes.indices where Self.isForbidden(bytes[index]) { return nil }
        exact = ExactText(text)
    }

    /// Creates an id from a literal, which must be a valid id.
    public init(stringLiteral text: String) {
        guard let id = TagID(text) else { preconditionFailure("\(text) is not an id of a tag") }
        self = id
    }

    /// The topic level.
    public var description: String { text }

    /// Orders ids by their bytes.
    public static func < (left: TagID, right: TagID) -> Bool { left.exact < right.exact }

    private static func isForbidden(_ byte: UInt8) -> Bool {
        switch byte {
        case ..<0x20, 0x7F, UInt8(ascii: "/"), UInt8(ascii: "+"), UInt8(ascii: "#"): true
        default: false
        }
    }
}
