/// The one way in which documents become bytes: sorted keys, so that equal documents are equal bytes.
///
/// The bytes are those of Foundation's `JSONEncoder` with sorted keys and without escaped slashes.
public enum JSONText {
    /// How keys are spelled.
    public enum Keys: Sendable {
        /// As the type spells them.
        case unchanged
        /// `uniqueId` becomes `unique_id`; the keys of dictionaries are data and stay.
        case snakeCase
    }

    /// The document on one line.
    ///
    /// - Returns: UTF-8; `null` for a document with a number that is not finite, which JSON does not have.
    public static func bytes(of document: some Encodable, keys: Keys = .unchanged) -> [UInt8] {
        node(of: document, keys)?.bytes(indentation: nil) ?? Array("null".utf8)
    }

    /// The document on lines for people, indented by two spaces.
    public static func indentedBytes(of document: some Encodable) -> [UInt8] {
        node(of: document, .unchanged)?.bytes(indentation: 0) ?? Array("null".utf8)
    }

    private static func node(of document: some Encodable, _ keys: Keys) -> JSONNode? {
        let node = JSONNode()
        do {
            try document.encode(to: NodeEncoder(node: node, keys: keys))
            return node
        } catch {
            return nil
        }
    }
}
