import ProtobufWire

/// Asks how the tag is set.
///
/// Source: `UJTConfigReadRequest`, extension 1100 of `Request`.
public struct ConfigReadRequest: Hashable, Sendable {
    /// Whether to tell ``TagConfiguration/imu``.
    public var readsIMU: Bool?
    /// Whether to tell ``TagConfiguration/ble``.
    public var readsBLE: Bool?
    /// Whether to tell ``TagConfiguration/wakeOnMotion``.
    public var readsWakeOnMotion: Bool?

    /// Asks for nothing.
    public init() {}

    /// Asks for some of the parts, and says of each whether it does.
    public init(readsIMU: Bool, readsBLE: Bool, readsWakeOnMotion: Bool) {
        self.readsIMU = readsIMU
        self.readsBLE = readsBLE
        self.readsWakeOnMotion = readsWakeOnMotion
    }
}

extension ConfigReadRequest: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&readsIMU)
        case 2: field.read(&readsBLE)
        case 3: field.read(&readsWakeOnMotion)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(readsIMU, field: 1)
        writer.write(readsBLE, field: 2)
        writer.write(readsWakeOnMotion, field: 3)
    }
}
