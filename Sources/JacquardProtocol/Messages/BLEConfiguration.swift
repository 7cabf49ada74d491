import ProtobufWire

/// How the tag advertises and connects. In a write, absent fields stay as they are; an answer holds all.
///
/// Source: `BleConfiguration` of the schema.
public struct BLEConfiguration: Hashable, Sendable {
    /// The name that it advertises.
    public var customAdvertisedName: String?
    /// Usual transmit power in dBm.
    public var transmitPowerDefault: Int32?
    /// Highest transmit power in dBm.
    public var transmitPowerMaximum: Int32?
    /// Interval of fast advertising in milliseconds.
    public var fastAdvertisingIntervalMilliseconds: Float?
    /// How long it advertises fast, in seconds.
    public var fastAdvertisingDurationSeconds: UInt32?
    /// Interval of slow advertising in milliseconds.
    public var slowAdvertisingIntervalMilliseconds: Float?
    /// How long it advertises slowly, in seconds.
    public var slowAdvertisingDurationSeconds: UInt32?
    /// Shortest connection interval; the unit is not documented, 1.25 ms would fit the values of a real tag.
    public var minimumConnectionInterval: UInt32?
    /// Longest connection interval, in the same unit.
    public var maximumConnectionInterval: UInt32?
    /// How many notifications it may hold back, see ``TouchMode/notificationQueueDepth``.
    public var notificationQueueDepth: UInt32?
    /// Interval of advertising between fast and slow, in milliseconds.
    public var mediumAdvertisingIntervalMilliseconds: Float?
    /// How long it advertises so, in seconds.
    public var mediumAdvertisingDurationSeconds: UInt32?

    /// Changes nothing.
    public init() {}

    /// How many bytes of UTF-8 a name may have.
    ///
    /// Source: JacquardSDKiOS, `setName`.
    public static let nameByteCounts = 1...21
}

extension BLEConfiguration: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&customAdvertisedName)
        case 2: field.read(&transmitPowerDefault)
        case 3: field.read(&transmitPowerMaximum)
        case 4: field.read(&fastAdvertisingIntervalMilliseconds)
        case 5: field.read(&fastAdvertisingDurationSeconds)
        case 6: field.read(&slowAdvertisingIntervalMilliseconds)
        case 7: field.read(&slowAdvertisingDurationSeconds)
        case 8: field.read(&minimumConnectionInterval)
        case 9: field.read(&maximumConnectionInterval)
        case 10: field.read(&notificationQueueDepth)
        case 11: field.read(&mediumAdvertisingIntervalMilliseconds)
        case 12: field.read(&mediumAdvertisingDurationSeconds)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(customAdvertisedName, field: 1)
        writer.write(transmitPowerDefault, field: 2)
        writer.write(transmitPowerMaximum, field: 3)
        writer.write(fastAdvertisingIntervalMilliseconds, field: 4)
        writer.write(fastAdvertisingDurationSeconds, field: 5)
        writer.write(slowAdvertisingIntervalMilliseconds, field: 6)
        writer.write(slowAdvertisingDurationSeconds, field: 7)
        writer.write(minimumConnectionInterval, field: 8)
        writer.write(maximumConnectionInterval, field: 9)
        writer.write(notificationQueueDepth, field: 10)
        writer.write(mediumAdvertisingIntervalMilliseconds, field: 11)
        writer.write(mediumAdvertisingDurationSeconds, field: 12)
    }
}
