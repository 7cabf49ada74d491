extension JSONValue {
    /// Reads a payload: a JSON document; any other text, such as the bare word `online`, becomes a string.
    public init(payload: [UInt8]) {
        self = JSONValue(parsing: payload) ?? .string(String(decoding: payload, as: UTF8.self))
    }

    /// The string, or `null`.
    public init(_ text: String?) {
        self = text.map(JSONValue.string) ?? .null
    }

    /// The number, or `null`.
    public init(_ number: Int?) {
        self = number.map { .integer(Int64($0)) } ?? .null
    }

    /// The document on one line, with sorted keys.
    public var text: String {
        String(decoding: JSONText.bytes(of: self), as: UTF8.self)
    }

    /// The value as one word for people: numbers in digits, Booleans as `yes` and `no`; nil for `null`, lists and objects.
    public var word: String? {
        switch self {
        case .string(let value): value
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .number(let value): String(value)
        case .bool(let value): value ? "yes" : "no"
        case .null, .array, .object: nil
        }
    }
}
