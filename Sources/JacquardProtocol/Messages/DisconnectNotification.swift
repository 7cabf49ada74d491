import ProtobufWire

/// The tag is about to drop the link. No SDK uses it.
///
/// Source: `DisconnectNotification`, extension 102 of `Notification`.
public struct DisconnectNotification: Hashable, Sendable {
    /// Whether the client is welcome to connect again.
    public var reconnect: Bool

    /// Describes a notification.
    public init(reconnect: Bool) {
        self.reconnect = reconnect
    }
}

extension DisconnectNotification: WireMessage {
    init(_ reader: inout WireReader) throws(MessageError) {
        var reconnect: Bool?
        while let field = try reader.next() {
            if field.number == 1 { field.read(&reconnect) }
        }
        self.init(reconnect: try reconnect.required("DisconnectNotification.reconnect"))
    }

    func write(to writer: inout WireWriter) {
        writer.write(reconnect, field: 1)
    }
}
