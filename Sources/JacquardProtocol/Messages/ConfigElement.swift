import ProtobufWire

/// A key of the tag's own store, and its value.
///
/// Source: `ConfigElement` of the schema.
public struct ConfigElement: Hashable, Sendable {
    /// A value with its type.
    public enum Value: Hashable, Sendable {
        /// Field 2.
        case bool(Bool)
        /// Field 3.
        case uint32(UInt32)
        /// Field 4.
        case uint64(UInt64)
        /// Field 5.
        case int32(Int32)
        /// Field 6.
        case int64(Int64)
        /// Field 7.
        case float(Float)
        /// Field 8.
        case double(Double)
        /// Field 9.
        case string(String)
    }

    /// The key.
    public var key: String?
    /// The value; of several the one with the lowest field number, as the iOS SDK reads it. Nil is no error.
    public var value: Value?

    /// Says nothing.
    public init() {}

    /// A key and its value.
    public init(key: String, value: Value?) {
        self.key = key
        self.value = value
    }
}

extension ConfigElement: WireMessage {
    init(_ reader: inout WireReader) throws(MessageError) {
        var valueNumber = UInt32.max
        while let field = try reader.next() {
            if field.number == 1 {
                field.read(&key)
            } else if field.number <= valueNumber, let value = Value(field) {
                (self.value, valueNumber) = (value, field.number)
            }
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(key, field: 1)
        switch value {
        case .bool(let value): writer.write(value, field: 2)
        case .uint32(let value): writer.write(value, field: 3)
        case .uint64(let value): writer.write(value, field: 4)
        case .int32(let value): writer.write(value, field: 5)
        case .int64(let value): writer.write(value, field: 6)
        case .float(let value): writer.write(value, field: 7)
        case .double(let value): writer.write(value, field: 8)
        case .string(let value): writer.write(value, field: 9)
        case nil: break
        }
    }
}

extension ConfigElement.Value {
    /// Nil if the field is none of a value, or its wire type does not fit.
    fileprivate init?(_ field: WireField) {
        let value: ConfigElement.Value? =
            switch field.number {
            case 2: Self.read(field, Self.bool) { $0.read(&$1) }
            case 3: Self.read(field, Self.uint32) { $0.read(&$1) }
            case 4: Self.read(field, Self.uint64) { $0.read(&$1) }
            case 5: Self.read(field, Self.int32) { $0.read(&$1) }
            case 6: Self.read(field, Self.int64) { $0.read(&$1) }
            case 7: Self.read(field, Self.float) { $0.read(&$1) }
            case 8: Self.read(field, Self.double) { $0.read(&$1) }
            case 9: Self.read(field, Self.string) { $0.read(&$1) }
            default: nil
            }
        guard let value else { return nil }
        self = value
    }

    private static func read<Content>(
        _ field: WireField, _ make: (Content) -> Self, _ read: (WireField, inout Content?) -> Void
    ) -> Self? {
        var content: Content?
        read(field, &content)
        return content.map(make)
    }
}
