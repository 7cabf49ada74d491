import JSON

extension JSONValue {
    /// The value for an error text: shortened, and only what the sender wrote.
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
    /// The text in quotation marks, cut after 40 characters so that an error text has a bounded size.
    var quoted: String {
        count > 40 ? "\"\(prefix(40))…\"" : "\"\(self)\""
    }
}
