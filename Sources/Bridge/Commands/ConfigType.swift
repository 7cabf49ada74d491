import JSON
import JacquardProtocol

/// The eight value types of a tag's configuration store, with the names of the schema.
enum ConfigType: String, Hashable, Sendable, CaseIterable {
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
