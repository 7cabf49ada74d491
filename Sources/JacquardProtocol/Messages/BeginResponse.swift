import ProtobufWire

/// The answer to begin; that it is there says that the version is accepted, although real ones are empty.
///
/// Source: `BeginResponse`, extension 101 of `Response`.
public struct BeginResponse: Hashable, Sendable {
    /// What this is for is not known; no SDK reads it.
    public var authResponse: [UInt8]?

    /// An empty answer.
    public init() {}
}

extension BeginResponse: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        if field.number == 1 { field.read(&authResponse) }
    }

    func write(to writer: inout WireWriter) {
        writer.write(authResponse, field: 1)
    }
}
