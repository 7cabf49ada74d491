import JacquardProtocol

/// A place in the tag's own store: a key, of the product of a vendor.
struct ConfigEntry: Hashable, Sendable {
    let key: String
    /// nil: the tag's own.
    let vendor: JacquardIdentifier?
    /// nil: the tag's own.
    let product: JacquardIdentifier?

    /// Bytes of a key; with the longest value it fits into the 1,024 bytes of a packet.
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
    /// A vendor's or product's number.
    fileprivate func identifier(_ key: String) throws(CommandFailure) -> JacquardIdentifier? {
        try text(key, mayBe: "four bytes such as 11-78-30-c8") { JacquardIdentifier($0) }
    }
}

/// The data of the results of `config/get` and `config/set`; without a value in the store both are null.
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

/// A value of the store as a JSON value. What JSON has no number for is a text: `nan`, `inf`, `-inf`.
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
