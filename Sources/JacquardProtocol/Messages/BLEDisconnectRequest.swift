import ProtobufWire

/// Asks the tag to drop the link.
///
/// Source: `BleDisconnectRequest`, extension 125 of `Request`.
public struct BLEDisconnectRequest: Hashable, Sendable {
    /// Seconds until it does; 0 is now.
    public var timeoutSeconds: UInt32?
    /// Whether it comes back only after it was moved.
    public var reconnectOnlyOnWakeOnMotion: Bool?

    /// Says nothing.
    public init() {}

    /// Asks it so.
    public init(timeoutSeconds: UInt32, reconnectOnlyOnWakeOnMotion: Bool) {
        self.timeoutSeconds = timeoutSeconds
        self.reconnectOnlyOnWakeOnMotion = reconnectOnlyOnWakeOnMotion
    }
}

extension BLEDisconnectRequest: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&timeoutSeconds)
        case 2: field.read(&reconnectOnlyOnWakeOnMotion)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(timeoutSeconds, field: 1)
        writer.write(reconnectOnlyOnWakeOnMotion, field: 2)
    }
}
