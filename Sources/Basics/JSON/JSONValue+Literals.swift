extension JSONValue: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    /// The value that the literal spells.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// The value that the literal spells.
    public init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    /// The value that the literal spells.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }

    /// The value that the literal spells.
    public init(integerLiteral value: Int64) {
        self = .integer(value)
    }

    /// The value that the literal spells.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }
}
