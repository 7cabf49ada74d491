import ProtobufWire

/// A tag's battery, asked for or not: the schema has a message for each, with the same fields.
///
/// Source: `BatteryStatusResponse` and `BatteryStatusNotification`, extension 121 of `Response` and of `Notification`.
public struct BatteryStatusReport: Hashable, Sendable {
    /// Whether the battery is charging. There is no 0.
    public struct ChargingStatus: RawRepresentable, Hashable, Sendable {
        /// The number on the wire.
        public let rawValue: UInt32

        /// Takes any number.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// It is.
        public static let charging = ChargingStatus(rawValue: 1)
        /// It is not.
        public static let notCharging = ChargingStatus(rawValue: 2)
    }

    /// Percent.
    public var level: UInt32?
    /// Whether it is charging.
    public var chargingStatus: ChargingStatus?

    /// Says nothing.
    public init() {}

    /// Tells a battery.
    public init(_ status: BatteryStatus) {
        level = UInt32(status.level)
        chargingStatus = status.isCharging ? .charging : .notCharging
    }

    /// The battery; nil unless both fields are there and the charging status is one of the two known.
    public var status: BatteryStatus? {
        guard let level, let chargingStatus else { return nil }
        switch chargingStatus {
        case .charging: return BatteryStatus(level: level, isCharging: true)
        case .notCharging: return BatteryStatus(level: level, isCharging: false)
        default: return nil
        }
    }
}

extension BatteryStatusReport: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&level)
        case 2: field.read(&chargingStatus)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(level, field: 1)
        writer.write(chargingStatus, field: 2)
    }
}
