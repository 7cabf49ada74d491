public import ProtobufWire

/// Why a packet is not a message of a tag.
public enum MessageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes are not protobuf.
    case malformed(ProtobufWireError)
    /// A field that the schema requires is absent; message and field as the schema names them.
    case missingField(String)

    /// A sentence for a log line; never holds bytes of the message.
    public var description: String {
        switch self {
        case .malformed(let error): "not a protobuf message: \(error)"
        case .missingField(let name): "\(name) is missing"
        }
    }
}
