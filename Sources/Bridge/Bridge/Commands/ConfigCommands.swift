import JSON
import JacquardProtocol

/// `config/get`: reads a value from the tag's configuration store.
struct ConfigGet: TagRequest {
    static let name = "config/get"
    static var needsPayload: Bool { true }
    static let keys = ["key", "vendor_id", "product_id"]

    private let entry: ConfigEntry

    var command: TagCommand? {
        .configGet(key: entry.key, vendor: entry.vendor, product: entry.product)
    }

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        entry = try ConfigEntry(CommandArguments(objectOnly: payload))
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        guard case .configValue(let value) = response else { return TagRequestOutcome() }
        return TagRequestOutcome(data: CommandData(ConfigDocument(entry: entry, value: value)))
    }
}

/// `config/set`: writes a value to the tag's configuration store and returns it in the result.
struct ConfigSet: TagRequest {
    static let name = "config/set"
    static var needsPayload: Bool { true }
    static let keys = ["key", "vendor_id", "product_id", "type", "value"]

    private let entry: ConfigEntry
    private let value: ConfigElement.Value

    var command: TagCommand? {
        .configSet(key: entry.key, value, vendor: entry.vendor, product: entry.product)
    }

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        let arguments = try CommandArguments(objectOnly: payload)
        entry = try ConfigEntry(arguments)
        let type = try CommandArguments.required(
            arguments.word("type", of: ConfigType.words), "type", mayBe: ConfigType.words.listed())
        let value = try type.value("value", in: arguments)
        self.value = try CommandArguments.required(value, "value", mayBe: "a value of the type \(type.rawValue)")
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        TagRequestOutcome(data: CommandData(ConfigDocument(entry: entry, value: value)))
    }
}

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
        let allowed = "a text of 1 to 128 bytes without control characters"
        let key = try arguments.text("key", bytes: Self.lengths, mayBe: allowed)
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
private struct ConfigDocument: JSONRecord {
    let entry: ConfigEntry
    let value: ConfigElement.Value?

    func addMembers(to object: inout JSONWriter) {
        object.add("key", entry.key)
        object.add("type", value?.type.rawValue)
        object.add("value", value.map(ConfigValueDocument.init))
    }
}

/// A stored value as JSON. Numbers that JSON cannot represent are strings: `nan`, `inf`, `-inf`.
private struct ConfigValueDocument: JSONDocument {
    let value: ConfigElement.Value

    func write(to json: inout JSONWriter) {
        switch value {
        case .bool(let value): value.write(to: &json)
        case .uint32(let value): value.write(to: &json)
        case .uint64(let value): value.write(to: &json)
        case .int32(let value): Int(value).write(to: &json)
        case .int64(let value): value.write(to: &json)
        case .float(let value) where value.isFinite: value.write(to: &json)
        case .float(let value): json.write(String(describing: value))
        case .double(let value) where value.isFinite: value.write(to: &json)
        case .double(let value): json.write(String(describing: value))
        case .string(let value): json.write(value)
        }
    }
}

/// The eight value types of a tag's configuration store, with the names of the schema.
public enum ConfigType: String, Hashable, Sendable, CaseIterable {
    case bool, uint32, uint64, int32, int64, float, double, string

    /// Maximum length of a string in bytes; with the longest key it fits into a packet of 1,024 bytes.
    private static let longestText = 768

    /// The names, for error texts.
    static let words = allCases.map { Word($0.rawValue, $0) }

    /// Reads a value of this type.
    ///
    /// - Throws: `invalid_argument`, with the values that the type allows.
    func value(_ key: String, in arguments: CommandArguments) throws(CommandFailure) -> ConfigElement.Value? {
        switch self {
        case .bool: try arguments.flag(key).map(ConfigElement.Value.bool)
        case .uint32: try arguments.integer(key, 0...UInt32.max).map(ConfigElement.Value.uint32)
        case .uint64: try arguments.integer(key, 0...UInt64.max).map(ConfigElement.Value.uint64)
        case .int32: try arguments.integer(key, Int32.min...Int32.max).map(ConfigElement.Value.int32)
        case .int64: try arguments.integer(key, Int64.min...Int64.max).map(ConfigElement.Value.int64)
        case .float: try arguments.number(key, limit: Double(Float.greatestFiniteMagnitude)).map { .float(Float($0)) }
        case .double: try arguments.number(key, limit: .greatestFiniteMagnitude).map(ConfigElement.Value.double)
        case .string: try arguments.text(key, longest: Self.longestText).map(ConfigElement.Value.string)
        }
    }
}

extension ConfigElement.Value {
    /// The type of the value.
    var type: ConfigType {
        switch self {
        case .bool: .bool
        case .uint32: .uint32
        case .uint64: .uint64
        case .int32: .int32
        case .int64: .int64
        case .float: .float
        case .double: .double
        case .string: .string
        }
    }
}

extension CommandArguments {
    /// Reads a number whose magnitude does not exceed a limit.
    fileprivate func number(_ key: String, limit: Double) throws(CommandFailure) -> Double? {
        guard let value = self[key] else { return nil }
        let number: Double? =
            switch value {
            case .integer(let integer): Double(integer)
            case .unsigned(let integer): Double(integer)
            case .number(let number): number
            default: nil
            }
        if let number, number.magnitude <= limit { return number }
        throw .invalid(key, is: value, mayBe: "a number from \(-limit) to \(limit)")
    }
}
