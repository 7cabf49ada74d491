import FoundationEssentials

/// JSON objects as lines: sorted keys, so that equal facts are equal lines.
enum JSONLine {
    static func text(_ members: [String: JSONValue]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only a number that is not finite can fail.
        guard let data = try? encoder.encode(JSONValue.object(members)) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }

    /// Reads a line.
    ///
    /// - Throws: what the decoder finds wrong.
    static func decode<Value: Decodable>(_ type: Value.Type, from line: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(line.utf8))
    }
}
