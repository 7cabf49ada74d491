import FoundationEssentials

/// The one way in which documents become bytes: sorted keys, so that equal documents are equal bytes.
enum JSONText {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    /// The bytes of a document.
    static func bytes(of document: some Encodable) -> [UInt8] {
        // Only numbers that are not finite can fail to be encoded, and our documents hold them as texts.
        guard let data = try? encoder.encode(document) else { return Array("null".utf8) }
        return Array(data)
    }
}
