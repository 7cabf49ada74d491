/// Encodes nil as `null`: the contract requires every key to be present.
@propertyWrapper
struct OrNull<Value: Encodable>: Encodable {
    var wrappedValue: Value?

    /// Has no default value, unlike the synthesized initializer, so that a caller must pass nil explicitly.
    init(wrappedValue value: Value?) {
        wrappedValue = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}

extension OrNull: Sendable where Value: Sendable {}

// Synthesized code calls these instead of the general method of the standard library, which makes an encoder for each value: the documents
// of a tag have fifty of them.
extension KeyedEncodingContainer {
    mutating func encode(_ text: OrNull<String>, forKey key: Key) throws {
        if let text = text.wrappedValue { try encode(text, forKey: key) } else { try encodeNil(forKey: key) }
    }

    mutating func encode<Value>(_ value: OrNull<Value>, forKey key: Key) throws {
        if let value = value.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }
}
