import ProtobufWire

/// When the tag wakes up and falls asleep. The numbers are those of the schema's enums.
///
/// Source: `WomConfiguration` of the schema.
public struct WakeOnMotionConfiguration: Hashable, Sendable {
    /// Whether movement wakes it.
    public var isEnabled: Bool?
    /// A number of `ImuAccelSampleRate`; 2, which is 3.12 Hz, if never set.
    public var sensitivity: UInt32?
    /// How much movement it takes; 20 if never set.
    public var motionThreshold: UInt32?
    /// How long it lies still before it sleeps, in milliseconds.
    public var noMotionTimeoutMilliseconds: UInt32?
    /// A number of `WomGearPowerControlPolicy`.
    public var gearPowerPolicy: UInt32?
    /// A number of `WomBleConnectionPolicy`.
    public var bleConnectionPolicy: UInt32?

    /// Changes nothing.
    public init() {}
}

extension WakeOnMotionConfiguration: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&isEnabled)
        case 2: field.read(&sensitivity)
        case 3: field.read(&motionThreshold)
        case 4: field.read(&noMotionTimeoutMilliseconds)
        case 5: field.read(&gearPowerPolicy)
        case 6: field.read(&bleConnectionPolicy)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(isEnabled, field: 1)
        writer.write(sensitivity, field: 2)
        writer.write(motionThreshold, field: 3)
        writer.write(noMotionTimeoutMilliseconds, field: 4)
        writer.write(gearPowerPolicy, field: 5)
        writer.write(bleConnectionPolicy, field: 6)
    }
}
