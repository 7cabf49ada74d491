/// A tag's battery.
public struct BatteryStatus: Hashable, Sendable {
    /// Percent, 0 to 100.
    public let level: UInt8
    /// Whether the tag is on its charger.
    public let isCharging: Bool

    /// Puts both together; a level above 100 counts as 100.
    public init(level: UInt32, isCharging: Bool) {
        self.level = UInt8(min(level, 100))
        self.isCharging = isCharging
    }
}
