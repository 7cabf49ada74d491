import ProtobufWire

/// A key of the tag's key-value store, and its value.
///
/// Source: `ConfigElement` of the schema.
public struct ConfigElement: Equatable, Sendable, WireMessage {
    /// A value with its type.
    public enum Value: Equatable, Sendable {
        /// `bool_val`
        case bool(Bool)
        /// `uint32_val`
        case uint32(UInt32)
        /// `uint64_val`
        case uint64(UInt64)
        /// `int32_val`
        case int32(Int32)
        /// `int64_val`
        case int64(Int64)
        /// `float_val`
        case float(Float)
        /// `double_val`
        case double(Double)
        /// `string_val`
        case string(String)
    }

    /// The key.
    public var key: String?
    /// The value. Of several, the one with the lowest field number, as the iOS SDK reads it. Nil is not an error.
    public var value: Value?

    /// Creates an element without key and value.
    public init() {}

    /// Creates an element.
    public init(key: String, value: Value?) {
        self.key = key
        self.value = value
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &key)
        try fields.choice(&value)
    }
}

extension ConfigElement.Value: FieldChoice {
    /// The field numbers of the types.
    private enum Kind: UInt32 {
        case bool = 2
        case uint32, uint64, int32, int64, float, double, string
    }

    private var kind: Kind {
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

    static func read(_ field: WireField, into value: inout Self?) {
        guard let kind = Kind(rawValue: field.number), kind.rawValue <= value?.kind.rawValue ?? .max,
            let read = Self(kind, field.value)
        else { return }
        value = read
    }

    private init?(_ kind: Kind, _ value: WireField.Value) {
        let read: Self? =
            switch kind {
            case .bool: Bool(wireValue: value).map(Self.bool)
            case .uint32: UInt32(wireValue: value).map(Self.uint32)
            case .uint64: UInt64(wireValue: value).map(Self.uint64)
            case .int32: Int32(wireValue: value).map(Self.int32)
            case .int64: Int64(wireValue: value).map(Self.int64)
            case .float: Float(wireValue: value).map(Self.float)
            case .double: Double(wireValue: value).map(Self.double)
            case .string: String(wireValue: value).map(Self.string)
            }
        guard let read else { return nil }
        self = read
    }

    func write(to writer: inout WireWriter) {
        let number = kind.rawValue
        switch self {
        case .bool(let value): writer.write(value, field: number)
        case .uint32(let value): writer.write(value, field: number)
        case .uint64(let value): writer.write(value, field: number)
        case .int32(let value): writer.write(value, field: number)
        case .int64(let value): writer.write(value, field: number)
        case .float(let value): writer.write(value, field: number)
        case .double(let value): writer.write(value, field: number)
        case .string(let value): writer.write(value, field: number)
        }
    }
}

/// Reads one element of the tag's key-value store.
///
/// Source: `ConfigGetRequest`, extension 123 of `Request`.
public struct ConfigGetRequest: Equatable, Sendable, WireMessage {
    /// The vendor whose store is read.
    public var vendorID: JacquardIdentifier?
    /// The product whose store is read.
    public var productID: JacquardIdentifier?
    /// The element's key.
    public var key: String?

    /// Creates an empty request.
    public init() {}

    /// Creates a request for the element with this key.
    public init(vendorID: JacquardIdentifier, productID: JacquardIdentifier, key: String) {
        self.vendorID = vendorID
        self.productID = productID
        self.key = key
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &vendorID)
        try fields.optional(2, &productID)
        try fields.optional(3, &key)
    }
}

/// The requested element. How a tag responds to an unknown key is not known.
///
/// Source: `ConfigGetResponse`, extension 123 of `Response`.
public struct ConfigGetResponse: Equatable, Sendable, WireMessage {
    /// The element.
    public var element: ConfigElement?

    /// Creates an empty response.
    public init() {}

    /// Creates a response with an element.
    public init(element: ConfigElement) {
        self.element = element
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &element)
    }
}

/// Writes one element of the tag's key-value store.
///
/// Source: `ConfigSetRequest`, extension 122 of `Request`.
public struct ConfigSetRequest: Equatable, Sendable, WireMessage {
    /// The vendor whose store is changed.
    public var vendorID: JacquardIdentifier?
    /// The product whose store is changed.
    public var productID: JacquardIdentifier?
    /// The element.
    public var element: ConfigElement?

    /// Creates an empty request.
    public init() {}

    /// Creates a request that writes an element.
    public init(vendorID: JacquardIdentifier, productID: JacquardIdentifier, element: ConfigElement) {
        self.vendorID = vendorID
        self.productID = productID
        self.element = element
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &vendorID)
        try fields.optional(2, &productID)
        try fields.optional(3, &element)
    }
}
