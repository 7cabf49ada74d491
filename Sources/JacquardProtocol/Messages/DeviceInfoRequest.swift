import ProtobufWire

/// Asks what a component is.
///
/// Source: `DeviceInfoRequest`, extension 103 of `Request`.
public struct DeviceInfoRequest: Hashable, Sendable {
    /// The component; 0 is the tag.
    public var component: UInt32?

    /// Names no component.
    public init() {}

    /// Asks for this one.
    public init(component: UInt32) {
        self.component = component
    }
}

extension DeviceInfoRequest: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        if field.number == 1 { field.read(&component) }
    }

    func write(to writer: inout WireWriter) {
        writer.write(component, field: 1)
    }
}
