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
