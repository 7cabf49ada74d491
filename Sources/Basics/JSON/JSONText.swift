/// The one way in which documents become bytes: sorted keys, so that equal documents are equal bytes.
///
/// The bytes are those of Foundation's `JSONEncoder` with sorted keys and without escaped slashes.
public enum JSONText {
    /// The document on one line.
    ///
    /// - Returns: UTF-8; `null` for a document with a number that is not finite, which JSON does not have.
    public static func bytes(of document: some Encodable) -> [UInt8] {
        nodes(of: document)?.bytes(indentation: nil) ?? Array("null".utf8)
    }

    /// The document on lines for people, indented by two spaces.
    public static func indentedBytes(of document: some Encodable) -> [UInt8] {
        nodes(of: document)?.bytes(indentation: 0) ?? Array("null".utf8)
    }

    private static func nodes(of document: some Encodable) -> JSONNodes? {
        let nodes = JSONNodes()
        do {
            try document.encode(to: NodeEncoder(nodes: nodes, node: JSONNodes.root))
            return nodes
        } catch {
            return nil
        }
    }
}
