import JSON

extension JSONValue {
    /// Reads a payload: a JSON document, or a bare word, which counts as a string.
    init(payload: [UInt8]) {
        self = JSONValue(parsing: payload) ?? .string(String(decoding: payload, as: UTF8.self))
    }

    /// The document on one line, its keys sorted; keys that this version does not know included.
    var text: String {
        String(decoding: JSONText.bytes(of: self), as: UTF8.self)
    }
}
