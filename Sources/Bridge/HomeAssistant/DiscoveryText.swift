import JSON

/// Discovery documents as text: names as Home Assistant spells them (`unique_id`).
enum DiscoveryText {
    /// The bytes of a document.
    static func bytes(of document: some Encodable) -> [UInt8] {
        JSONText.bytes(of: document, keys: .snakeCase)
    }

    /// The longest discovery message that is looked at, in bytes.
    private static let longest = 65_536

    /// What asks Home Assistant to expect an item in the other form.
    static let migrationRequest = Array(#"{"migrate_discovery":true}"#.utf8)

    /// Whether a message in a discovery topic was published by this program, in this or an earlier run.
    static func isOurs(_ payload: [UInt8]) -> Bool {
        guard !payload.isEmpty, payload.count <= longest else { return false }
        if payload == migrationRequest { return true }
        return JSONValue(parsing: payload)?["origin"]?["name"]?.string == OriginDocument.program
    }
}
