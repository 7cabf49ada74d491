import ProtobufWire

/// Asks for the battery.
///
/// Source: `BatteryStatusRequest`, extension 121 of `Request`.
public struct BatteryStatusRequest: Hashable, Sendable {
    /// Whether to tell the level.
    public var readsLevel: Bool?
    /// Whether to tell if it is charging.
    public var readsChargingStatus: Bool?

    /// Asks for nothing.
    public init() {}

    /// Asks for one or both.
    public init(readsLevel: Bool, readsChargingStatus: Bool) {
        self.readsLevel = readsLevel
        self.readsChargingStatus = readsChargingStatus
    }
}

extension BatteryStatusRequest: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&readsLevel)
        case 2: field.read(&readsChargingStatus)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(readsLevel, field: 1)
        writer.write(readsChargingStatus, field: 2)
    }
}
