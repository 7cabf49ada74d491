/// Any JSON value: what other people write, and documents that are made key by key.
public enum JSONValue: Hashable, Sendable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A whole number, however it is written: `1`, `1.0` and `1e0` are the same.
    case integer(Int64)
    /// A whole number that is too large for the case above.
    case unsigned(UInt64)
    /// Any other number; it is finite.
    case number(Double)
    /// A string, its escapes resolved.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// An object; of a key that comes twice the first value counts.
    case object([String: JSONValue])

    /// How many lists and objects may lie in one another, so that no text exhausts the stack.
    public static let deepest = 512

    /// Reads one document, which is all there may be in the text but for spaces; nil for what is not JSON, or has a number
    /// that no `Double` holds.
    ///
    /// - Parameter text: UTF-8, by RFC 8259. At most ``deepest`` lists and objects lie in one another.
    public init?(parsing text: [UInt8]) {
        guard let value = text.withUnsafeBufferPointer({ JSONParser.document($0) }) else { return nil }
        self = value
    }
}

/// A member of an object.
public struct JSONMember: Hashable, Sendable {
    /// Its key.
    public let key: String
    /// Its value.
    public let value: JSONValue

    /// Creates a member.
    public init(key: String, value: JSONValue) {
        self.key = key
        self.value = value
    }
}

/// A step on the way to a value in a document.
public enum JSONPlace: Hashable, Sendable {
    /// The member of an object with this key.
    case key(String)
    /// The element of a list with this index.
    case element(Int)
}

extension JSONMember {
    /// Parses a document that is an object, without a dictionary: a reader of a few keys compares them faster.
    ///
    /// - Parameters:
    ///   - text: as for ``JSONValue/init(parsing:)``, but a number that no `Double` holds is infinite.
    ///   - repeatedKey: set to the way to the first key that comes twice in one object, if there is one.
    /// - Returns: the members in the order of the text, also those with a key that came before; nil for what is not JSON
    ///   or not an object.
    public static func list(parsing text: [UInt8], repeatedKey: inout [JSONPlace]) -> [JSONMember]? {
        text.withUnsafeBufferPointer { JSONParser.members($0, repeatedKey: &repeatedKey) }
    }

    /// Parses a document that is an object, whatever its keys are.
    public static func list(parsing text: [UInt8]) -> [JSONMember]? {
        var repeatedKey: [JSONPlace] = []
        return list(parsing: text, repeatedKey: &repeatedKey)
    }

    /// Looks for the string of a key in a text that should have been an object.
    ///
    /// - Parameters:
    ///   - key: a key of the outermost object.
    ///   - text: any bytes.
    /// - Returns: the string; nil if the key was not found, or has another value.
    public static func string(of key: String, inBroken text: ArraySlice<UInt8>) -> String? {
        text.withUnsafeBufferPointer { JSONParser.string(of: key, inBroken: $0) }
    }
}

/// Readers of a value: nil for one that is missing or of another type.
extension JSONValue {
    /// The value of a key.
    public subscript(key: String) -> JSONValue? {
        if case .object(let object) = self { object[key] } else { nil }
    }

    /// A string.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// A whole number.
    public var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// True or false.
    public var flag: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements of a list.
    public var elements: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The keys and values of an object.
    public var members: [String: JSONValue]? {
        if case .object(let value) = self { value } else { nil }
    }
}
