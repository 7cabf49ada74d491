import Bridge

/// What a reader asks of a document; whatever is not there, or is something else, is nil.
extension JSONValue {
    /// The value of a key.
    subscript(key: String) -> JSONValue? {
        if case .object(let object) = self { object[key] } else { nil }
    }

    /// A string.
    var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// A whole number.
    var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// True or false.
    var flag: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements of a list.
    var elements: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

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

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    init(stringLiteral value: String) {
        self = .string(value)
    }

    init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }

    init(integerLiteral value: Int64) {
        self = .integer(value)
    }

    init(booleanLiteral value: Bool) {
        self = .bool(value)
    }
}

extension JSONValue {
    /// Reads a payload: a JSON document, or a bare word, which counts as a string.
    init(payload: [UInt8]) {
        self = JSONValue(json: payload) ?? .string(String(decoding: payload, as: UTF8.self))
    }

    /// The string, or `null`.
    init(_ text: String?) {
        self = text.map(JSONValue.string) ?? .null
    }

    /// The number, or `null`.
    init(_ number: Int?) {
        self = number.map { .integer(Int64($0)) } ?? .null
    }
}
