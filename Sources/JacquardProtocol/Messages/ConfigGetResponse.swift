import ProtobufWire

/// The element that was asked for. What a tag says to an unknown key is not known.
///
/// Source: `ConfigGetResponse`, extension 123 of `Response`.
public struct ConfigGetResponse: Hashable, Sendable {
    /// The element.
    public var element: ConfigElement?

    /// Says nothing.
    public init() {}

    /// Tells an element.
    public init(element: ConfigElement) {
        self.element = element
    }
}

extension ConfigGetResponse: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        if field.number == 1 { try field.read(&element) }
    }

    func write(to writer: inout WireWriter) {
        writer.write(element, field: 1)
    }
}
