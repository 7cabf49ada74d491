/// A value that is written as `null` when it is not known: the contract wants every key to be there.
@propertyWrapper
struct OrNull<Value: Encodable>: Encodable {
    var wrappedValue: Value?

    /// Without a default, unlike the synthesized one: nobody forgets to say that a value is not known.
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
