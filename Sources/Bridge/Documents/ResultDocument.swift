/// The result of a command.
struct ResultDocument: Encodable {
    /// The three statuses of a result.
    enum Status: String, Encodable {
        case ok, error, accepted
    }

    @OrNull var id: String?
    let status: Status
    let isFinal: Bool
    let data: CommandData
    @OrNull var error: CommandFailure?
    let tookMilliseconds: Int64
    let time: String
    let bridge: String

    private enum CodingKeys: String, CodingKey {
        case id, status, data, error, time, bridge
        case isFinal = "final"
        case tookMilliseconds = "took_ms"
    }
}

/// The data of a result: any document, or an empty object.
struct CommandData: Encodable, Sendable {
    private let document: any Encodable & Sendable

    /// Wraps a document.
    init(_ document: some Encodable & Sendable) {
        self.document = document
    }

    /// `{}`
    static let none = CommandData([String: String]())

    func encode(to encoder: any Encoder) throws {
        try document.encode(to: encoder)
    }
}

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
