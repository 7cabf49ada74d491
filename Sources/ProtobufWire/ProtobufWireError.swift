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
