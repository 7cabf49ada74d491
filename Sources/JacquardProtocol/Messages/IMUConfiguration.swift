import ProtobufWire

/// How the motion sensor samples. The numbers are those of the schema's enums.
///
/// Source: `ImuConfiguration` of the schema.
public struct IMUConfiguration: Hashable, Sendable {
    /// Which sensor.
    public var sensorID: UInt32?
    /// Whether the accelerometer saves power.
    public var accelerometerLowPowerMode: Bool?
    /// A number of `ImuFilterMode`.
    public var accelerometerFilterMode: UInt32?
    /// A number of `ImuAccelSampleRate`: 5 is 25 Hz, and each next one twice as much.
    public var accelerometerSampleRate: UInt32?
    /// A number of `ImuAccelRange`: 0 is 2 g, and each next one twice as much.
    public var accelerometerRange: UInt32?
    /// Whether the gyroscope saves power.
    public var gyroscopeLowPowerMode: Bool?
    /// A number of `ImuFilterMode`.
    public var gyroscopeFilterMode: UInt32?
    /// A number of `ImuGyroSampleRate`: 0 is 25 Hz, and each next one twice as much.
    public var gyroscopeSampleRate: UInt32?
    /// A number of `ImuGyroRange`: 0 is 125 degrees a second, and each next one twice as much.
    public var gyroscopeRange: UInt32?

    /// Changes nothing.
    public init() {}
}

extension IMUConfiguration: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&sensorID)
        case 2: field.read(&accelerometerLowPowerMode)
        case 3: field.read(&accelerometerFilterMode)
        case 4: field.read(&accelerometerSampleRate)
        case 5: field.read(&accelerometerRange)
        case 6: field.read(&gyroscopeLowPowerMode)
        case 7: field.read(&gyroscopeFilterMode)
        case 8: field.read(&gyroscopeSampleRate)
        case 9: field.read(&gyroscopeRange)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(sensorID, field: 1)
        writer.write(accelerometerLowPowerMode, field: 2)
        writer.write(accelerometerFilterMode, field: 3)
        writer.write(accelerometerSampleRate, field: 4)
        writer.write(accelerometerRange, field: 5)
        writer.write(gyroscopeLowPowerMode, field: 6)
        writer.write(gyroscopeFilterMode, field: 7)
        writer.write(gyroscopeSampleRate, field: 8)
        writer.write(gyroscopeRange, field: 9)
    }
}
