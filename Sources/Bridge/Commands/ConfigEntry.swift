import JacquardProtocol

/// A key in the tag's configuration store, which belongs to a vendor and a product.
struct ConfigEntry: Hashable, Sendable {
    let key: String
    /// nil: the tag's own vendor ID.
    let vendor: JacquardIdentifier?
    /// nil: the tag's own product ID.
    let product: JacquardIdentifier?

    /// Length of a key in bytes; with the longest value it fits into a packet of 1,024 bytes.
    private static let lengths = 1...128

    /// Reads `key`, `vendor_id` and `product_id`.
    init(_ arguments: CommandArguments) throws(CommandFailure) {
        let allowed = "a text of 1 to 128 bytes"
        let key = try arguments.text("key", mayBe: allowed) { Self.lengths.contains($0.utf8.count) ? $0 : nil }
        self.key = try CommandArguments.required(key, "key", mayBe: allowed)
        vendor = try arguments.identifier("vendor_id")
        product = try arguments.identifier("product_id")
    }
}

extension CommandArguments {
    /// Reads a vendor or product ID.
    fileprivate func identifier(_ key: String) throws(CommandFailure) -> JacquardIdentifier? {
        try text(key, mayBe: "four bytes such as 11-78-30-c8") { JacquardIdentifier($0) }
    }
}

/// The data of the results of `config/get` and `config/set`. Type and value are null if the store has no value.
struct ConfigDocument: Encodable {
    let key: String
    @OrNull var type: String?
    @OrNull var value: ConfigValueDocument?

    init(_ entry: ConfigEntry, _ value: ConfigElement.Value?) {
        key = entry.key
        type = value?.type.rawValue
        self.value = value.map(ConfigValueDocument.init)
    }
}

/// A stored value as JSON. Numbers that JSON cannot represent are strings: `nan`, `inf`, `-inf`.
struct ConfigValueDocument: Encodable {
    let value: ConfigElement.Value

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .bool(let value): try container.encode(value)
        case .uint32(let value): try container.encode(value)
        case .uint64(let value): try container.encode(value)
        case .int32(let value): try container.encode(value)
        case .int64(let value): try container.encode(value)
        case .float(let value) where value.isFinite: try container.encode(value)
        case .float(let value): try container.encode(String(describing: value))
        case .double(let value) where value.isFinite: try container.encode(value)
        case .double(let value): try container.encode(String(describing: value))
        case .string(let value): try container.encode(value)
        }
    }
}
