/// One field as it was on the wire: its number, and a value whose type only the schema knows.
public struct WireField: Sendable {
    /// A value by its wire type.
    public enum Value: Sendable {
        /// Integers, booleans and enums.
        case varint(UInt64)
        /// `double` and the 64-bit integers of fixed length.
        case fixed64(UInt64)
        /// `float` and the 32-bit integers of fixed length.
        case fixed32(UInt32)
        /// Text, bytes and messages; shares the memory of the message that is read.
        case bytes(ArraySlice<UInt8>)
    }

    /// The field's number, 1 to 536,870,911.
    public let number: UInt32
    /// The field's value.
    public let value: Value

    /// Creates a field from its number and its value.
    @inlinable
    public init(number: UInt32, value: Value) {
        self.number = number
        self.value = value
    }

    /// A reader for the fields of the message in this field; nil if the wire type is not that of a message.
    @inlinable
    public var message: WireReader? {
        guard case .bytes(let bytes) = value else { return nil }
        return WireReader(bytes)
    }

    /// Stores the value if its wire type fits the variable's type; otherwise leaves the variable unchanged.
    @inlinable
    public func read<Scalar: WireScalar>(_ variable: inout Scalar?) {
        if let scalar = Scalar(wireValue: value) { variable = scalar }
    }
}

/// How a field's value is laid out: the low three bits of its tag.
///
/// Source: https://protobuf.dev/programming-guides/encoding/#structure
enum WireType {
    /// Seven bits a byte, low group first, top bit set while more follow.
    static let varint: UInt32 = 0
    /// Eight bytes, low byte first.
    static let fixed64: UInt32 = 1
    /// A varint with the length, then so many bytes.
    static let lengthDelimited: UInt32 = 2
    /// Four bytes, low byte first.
    static let fixed32: UInt32 = 5
}

/// Why bytes are not a protobuf message.
///
/// Source: https://protobuf.dev/programming-guides/encoding/
public enum ProtobufWireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes end inside a field.
    case truncated
    /// A varint goes on after its tenth byte.
    case varintTooLong
    /// A field's number is 0 or above 536,870,911.
    case invalidFieldNumber
    /// A wire type that is not read: 3 and 4 (groups, which no tag sends), or 6 and 7 (which do not exist).
    case unsupportedWireType(UInt8)

    /// A sentence for a log line; never holds bytes of the message.
    public var description: String {
        switch self {
        case .truncated: "the bytes end inside a field"
        case .varintTooLong: "a varint is longer than ten bytes"
        case .invalidFieldNumber: "a field number is out of range"
        case .unsupportedWireType(let type): "wire type \(type) is not supported"
        }
    }
}
