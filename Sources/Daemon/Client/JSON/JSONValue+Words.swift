import JSON

extension JSONValue {
    /// A word for people: strings as they are, numbers in digits, yes and no; nil for what is not one word.
    var word: String? {
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

extension JSONValue {
    /// The string, or `null`.
    init(_ text: String?) {
        self = text.map(JSONValue.string) ?? .null
    }

    /// The number, or `null`.
    init(_ number: Int?) {
        self = number.map { .integer(Int64($0)) } ?? .null
    }
}
