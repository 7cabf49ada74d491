import JSON

extension JSONValue {
    /// The value for an error text: short, and never more than the caller wrote.
    var quoted: String {
        switch self {
        case .null: "null"
        case .bool(let value): String(value)
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .number(let value): String(value)
        case .string(let value): value.quoted
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension String {
    /// The text in quotation marks, cut after forty characters: an error never grows with its cause.
    var quoted: String {
        count > 40 ? "\"\(prefix(40))…\"" : "\"\(self)\""
    }
}
