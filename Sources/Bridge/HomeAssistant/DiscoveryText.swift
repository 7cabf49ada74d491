import FoundationEssentials

/// How discovery documents become bytes: sorted keys, and names as Home Assistant spells them (`unique_id`).
enum DiscoveryText {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return encoder
    }()

    /// The bytes of a document.
    static func bytes(of document: some Encodable) -> [UInt8] {
        // Only numbers that are not finite can fail to be encoded, and no discovery document holds fractions.
        guard let data = try? encoder.encode(document) else { return [] }
        return Array(data)
    }
}

extension DiscoveryText {
    /// The longest discovery message that is looked at, in bytes.
    private static let longest = 65_536

    /// What asks Home Assistant to expect an item in the other form.
    static let migrationRequest = Array(#"{"migrate_discovery":true}"#.utf8)

    /// Whether a message in a discovery topic was published by this program, in this or an earlier run.
    static func isOurs(_ payload: [UInt8]) -> Bool {
        guard !payload.isEmpty, payload.count <= longest else { return false }
        if payload == migrationRequest { return true }
        let document = try? JSONDecoder().decode(WithOrigin.self, from: Data(payload))
        return document?.origin.name == OriginDocument.program
    }

    private struct WithOrigin: Decodable {
        struct Origin: Decodable {
            let name: String
        }

        let origin: Origin
    }
}
