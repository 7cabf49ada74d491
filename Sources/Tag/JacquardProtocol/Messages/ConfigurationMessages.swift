/// Reads the tag's configuration.
///
/// Source: `UJTConfigReadRequest`, extension 1100 of `Request`.
public struct ConfigReadRequest: Equatable, Sendable, WireMessage {
    /// Whether the response includes ``TagConfiguration/imu``.
    public var readsIMU: Bool?
    /// Whether the response includes ``TagConfiguration/ble``.
    public var readsBLE: Bool?
    /// Whether the response includes ``TagConfiguration/wakeOnMotion``.
    public var readsWakeOnMotion: Bool?

    /// Creates a request for nothing.
    public init() {}

    /// Creates a request that sets each of the three fields.
    public init(readsIMU: Bool, readsBLE: Bool, readsWakeOnMotion: Bool) {
        self.readsIMU = readsIMU
        self.readsBLE = readsBLE
        self.readsWakeOnMotion = readsWakeOnMotion
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &readsIMU)
        try fields.optional(2, &readsBLE)
        try fields.optional(3, &readsWakeOnMotion)
    }
}

/// A change of the tag's configuration, or all of it: the schema has a message for each, with the same fields.
///
/// Source: `UJTConfigWriteRequest` and `UJTConfigResponse`, extension 1101 of `Request` and of `Response`.
public struct TagConfiguration: Equatable, Sendable, WireMessage {
    /// The motion sensor.
    public var imu: IMUConfiguration?
    /// Advertising and connecting.
    public var ble: BLEConfiguration?
    /// Waking and sleeping.
    public var wakeOnMotion: WakeOnMotionConfiguration?

    /// Creates an empty configuration; a tag that refuses a change responds with it.
    public init() {}

    /// Creates a configuration of advertising and connecting only.
    public init(ble: BLEConfiguration) {
        self.ble = ble
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &imu)
        try fields.optional(2, &ble)
        try fields.optional(3, &wakeOnMotion)
    }
}

/// How the motion sensor samples. The numbers are those of the schema's enums.
///
/// Source: `ImuConfiguration` of the schema.
public struct IMUConfiguration: Equatable, Sendable, WireMessage {
    /// The sensor's number.
    public var sensorID: UInt32?
    /// Whether the accelerometer saves power.
    public var accelerometerLowPowerMode: Bool?
    /// A number of `ImuFilterMode`.
    public var accelerometerFilterMode: UInt32?
    /// A number of `ImuAccelSampleRate`: 5 is 25 Hz, each following number doubles the rate.
    public var accelerometerSampleRate: UInt32?
    /// A number of `ImuAccelRange`: 0 is 2 g, each following number doubles the range.
    public var accelerometerRange: UInt32?
    /// Whether the gyroscope saves power.
    public var gyroscopeLowPowerMode: Bool?
    /// A number of `ImuFilterMode`.
    public var gyroscopeFilterMode: UInt32?
    /// A number of `ImuGyroSampleRate`: 0 is 25 Hz, each following number doubles the rate.
    public var gyroscopeSampleRate: UInt32?
    /// A number of `ImuGyroRange`: 0 is 125 degrees per second, each following number doubles the range.
    public var gyroscopeRange: UInt32?

    /// Creates a configuration that changes nothing.
    public init() {}

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &sensorID)
        try fields.optional(2, &accelerometerLowPowerMode)
        try fields.optional(3, &accelerometerFilterMode)
        try fields.optional(4, &accelerometerSampleRate)
        try fields.optional(5, &accelerometerRange)
        try fields.optional(6, &gyroscopeLowPowerMode)
        try fields.optional(7, &gyroscopeFilterMode)
        try fields.optional(8, &gyroscopeSampleRate)
        try fields.optional(9, &gyroscopeRange)
    }
}

/// How the tag advertises and connects. In a change, absent fields stay unchanged; a response contains all.
///
/// Source: `BleConfiguration` of the schema.
public struct BLEConfiguration: Equatable, Sendable, WireMessage {
    /// The advertised name.
    public var customAdvertisedName: String?
    /// Default transmit power in dBm.
    public var transmitPowerDefault: Int32?
    /// Maximum transmit power in dBm.
    public var transmitPowerMaximum: Int32?
    /// Interval of fast advertising in milliseconds.
    public var fastAdvertisingIntervalMilliseconds: Float?
    /// Duration of fast advertising in seconds.
    public var fastAdvertisingDurationSeconds: UInt32?
    /// Interval of slow advertising in milliseconds.
    public var slowAdvertisingIntervalMilliseconds: Float?
    /// Duration of slow advertising in seconds.
    public var slowAdvertisingDurationSeconds: UInt32?
    /// Minimum connection interval; the unit is not documented, 1.25 ms fits the values of a real tag.
    public var minimumConnectionInterval: UInt32?
    /// Maximum connection interval, in the same unit.
    public var maximumConnectionInterval: UInt32?
    /// How many notifications the tag may queue, see ``TouchMode/notificationQueueDepth``.
    public var notificationQueueDepth: UInt32?
    /// Interval of medium advertising (between fast and slow) in milliseconds.
    public var mediumAdvertisingIntervalMilliseconds: Float?
    /// Duration of medium advertising in seconds.
    public var mediumAdvertisingDurationSeconds: UInt32?

    /// Creates a configuration that changes nothing.
    public init() {}

    /// The permitted length of a name, in bytes of UTF-8.
    ///
    /// Source: JacquardSDKiOS, `setName`.
    public static let nameByteCounts = 1...21

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &customAdvertisedName)
        try fields.optional(2, &transmitPowerDefault)
        try fields.optional(3, &transmitPowerMaximum)
        try fields.optional(4, &fastAdvertisingIntervalMilliseconds)
        try fields.optional(5, &fastAdvertisingDurationSeconds)
        try fields.optional(6, &slowAdvertisingIntervalMilliseconds)
        try fields.optional(7, &slowAdvertisingDurationSeconds)
        try fields.optional(8, &minimumConnectionInterval)
        try fields.optional(9, &maximumConnectionInterval)
        try fields.optional(10, &notificationQueueDepth)
        try fields.optional(11, &mediumAdvertisingIntervalMilliseconds)
        try fields.optional(12, &mediumAdvertisingDurationSeconds)
    }
}

/// When the tag wakes up and falls asleep. The numbers are those of the schema's enums.
///
/// Source: `WomConfiguration` of the schema.
public struct WakeOnMotionConfiguration: Equatable, Sendable, WireMessage {
    /// Whether motion wakes the tag.
    public var isEnabled: Bool?
    /// A number of `ImuAccelSampleRate`; default 2, which is 3.12 Hz.
    public var sensitivity: UInt32?
    /// How much motion wakes the tag; default 20.
    public var motionThreshold: UInt32?
    /// How long the tag lies still before it sleeps, in milliseconds.
    public var noMotionTimeoutMilliseconds: UInt32?
    /// A number of `WomGearPowerControlPolicy`.
    public var gearPowerPolicy: UInt32?
    /// A number of `WomBleConnectionPolicy`.
    public var bleConnectionPolicy: UInt32?

    /// Creates a configuration that changes nothing.
    public init() {}

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &isEnabled)
        try fields.optional(2, &sensitivity)
        try fields.optional(3, &motionThreshold)
        try fields.optional(4, &noMotionTimeoutMilliseconds)
        try fields.optional(5, &gearPowerPolicy)
        try fields.optional(6, &bleConnectionPolicy)
    }
}
