import ProtobufWire

/// The answer to a haptic request; it has no fields.
///
/// Source: `HapticResponse`, extension 906 of `Response`.
public struct HapticResponse: Hashable, Sendable {
    /// The only one there is.
    public init() {}
}

extension HapticResponse: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {}

    func write(to writer: inout WireWriter) {}
}
