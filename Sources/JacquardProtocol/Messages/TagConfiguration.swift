import ProtobufWire

/// What is to be changed on a tag, or how it is set: the schema has a message for each, with the same fields.
///
/// Source: `UJTConfigWriteRequest` and `UJTConfigResponse`, extension 1101 of `Request` and of `Response`.
public struct TagConfiguration: Hashable, Sendable {
    /// The motion sensor.
    public var imu: IMUConfiguration?
    /// Advertising and connecting.
    public var ble: BLEConfiguration?
    /// Waking and sleeping.
    public var wakeOnMotion: WakeOnMotionConfiguration?

    /// Says nothing; a tag that refuses a change answers so.
    public init() {}

    /// Advertising and connecting alone.
    public init(ble: BLEConfiguration) {
        self.ble = ble
    }
}

extension TagConfiguration: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: try field.read(&imu)
        case 2: try field.read(&ble)
        case 3: try field.read(&wakeOnMotion)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(imu, field: 1)
        writer.write(ble, field: 2)
        writer.write(wakeOnMotion, field: 3)
    }
}
