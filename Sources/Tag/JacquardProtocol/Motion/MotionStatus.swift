/// The state of motion data on the tag. Any number may occur.
///
/// Source: `DataCollectionStatus` of the schema.
public struct MotionStatus: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: UInt32

    /// Accepts any number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Nothing is collected.
    public static let idle = MotionStatus(rawValue: 0)
    /// Data is stored or streamed.
    public static let logging = MotionStatus(rawValue: 1)
    /// A session is sent to the client.
    public static let transferring = MotionStatus(rawValue: 2)
    /// Sessions are erased.
    public static let erasing = MotionStatus(rawValue: 3)
    /// Less than 20 % of the tag's memory is free.
    public static let lowStorage = MotionStatus(rawValue: 6)
    /// The battery is below 50 %.
    public static let lowBattery = MotionStatus(rawValue: 7)

    /// The schema's name without its prefix, such as `FWRITE_ERROR`, or the number if it has no name.
    public var description: String {
        Self.names.indices.contains(Int(rawValue)) ? Self.names[Int(rawValue)] : "STATUS_\(rawValue)"
    }

    private static let names = [
        "IDLE", "LOGGING", "XFER_DATA", "ERASING_DATA", "ERROR_STATE", "INVALID_STATE", "LOW_STORAGE", "LOW_BATTERY",
        "IMU_CONFIG_READ_ERROR", "IMU_CONFIG_WRITE_ERROR", "IMU_SET_CALLBACK_ERROR", "IMU_ON_ERROR", "IMU_OFF_ERROR",
        "MKDIR_ERROR", "CHDIR_ERROR", "OPENDIR_ERROR", "READDIR_ERROR", "GETCWD_ERROR", "FOPEN_ERROR", "FWRITE_ERROR",
        "FREAD_ERROR", "FSEEK_ERROR", "FUNLINK_ERROR", "FGETFREE_ERROR", "BAD_FILE_FORMAT", "PBENCODE_ERROR",
        "PBDECODE_ERROR", "RAW_TX_ERROR", "GEAR_SET_CALLBACK_ERROR", "APP_SCHED_EVENT", "UNKNOWN",
    ]
}

/// The destination of motion data.
///
/// Source: `DataCollectionMode` of the schema.
public struct MotionMode: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public let rawValue: UInt32

    /// Accepts any number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// To the client, at once.
    public static let stream = MotionMode(rawValue: 0)
    /// To the tag's memory.
    public static let store = MotionMode(rawValue: 1)
}

/// The sample rates of the motion sensor.
///
/// Source: `ImuAccelSampleRate` and `ImuGyroSampleRate` of the schema.
public struct MotionRates: Hashable, Sendable {
    /// The number of the accelerometer's rate.
    public let accelerometer: UInt32
    /// The number of the gyroscope's rate.
    public let gyroscope: UInt32

    /// The accelerometer's rates in Hz, by their numbers. The iOS SDK calls 0.78 Hz "78 Hz", and 1.56 Hz "156".
    public static let accelerometerHertz: [Double] = [0.78, 1.56, 3.12, 6.25, 12.5, 25, 50, 100, 200, 400, 800, 1_600]
    /// The gyroscope's rates in Hz, by their numbers.
    public static let gyroscopeHertz: [Double] = [25, 50, 100, 200, 400, 800, 1_600, 3_200]

    /// Both sensors at 25 Hz.
    public static let low = MotionRates(accelerometer: 5, gyroscope: 0)

    private init(accelerometer: UInt32, gyroscope: UInt32) {
        self.accelerometer = accelerometer
        self.gyroscope = gyroscope
    }

    /// Selects rates in Hz.
    ///
    /// - Returns: nil if the sensor does not have one of them.
    public init?(accelerometerHertz: Double, gyroscopeHertz: Double) {
        guard let accelerometer = Self.accelerometerHertz.firstIndex(of: accelerometerHertz),
            let gyroscope = Self.gyroscopeHertz.firstIndex(of: gyroscopeHertz)
        else { return nil }
        self.init(accelerometer: UInt32(accelerometer), gyroscope: UInt32(gyroscope))
    }

    /// The accelerometer's rate in Hz.
    public var accelerometerHertz: Double { Self.accelerometerHertz[Int(accelerometer)] }
    /// The gyroscope's rate in Hz.
    public var gyroscopeHertz: Double { Self.gyroscopeHertz[Int(gyroscope)] }
}

extension IMUConfiguration {
    /// Creates a change of the two rates.
    public init(_ rates: MotionRates) {
        self.init()
        accelerometerSampleRate = rates.accelerometer
        gyroscopeSampleRate = rates.gyroscope
    }

    /// The accelerometer's rate in Hz; nil if it is absent or unknown.
    public var accelerometerHertz: Double? { Self.value(accelerometerSampleRate, MotionRates.accelerometerHertz) }

    /// The gyroscope's rate in Hz; nil if it is absent or unknown.
    public var gyroscopeHertz: Double? { Self.value(gyroscopeSampleRate, MotionRates.gyroscopeHertz) }

    /// The acceleration of one unit in g. Without a range: that of the usual 16 g.
    ///
    /// Source: derived; 2 g in the smallest range are 32,768 units, each following number doubles the range.
    public var gPerUnit: Double { (Self.value(accelerometerRange, [2, 4, 8, 16]) ?? 16) / 32_768 }

    /// The angular velocity of one unit in degrees per second. Without a range: that of the usual 2,000 degrees.
    public var degreesPerSecondPerUnit: Double {
        (Self.value(gyroscopeRange, [125, 250, 500, 1_000, 2_000]) ?? 2_000) / 32_768
    }

    private static func value(_ number: UInt32?, _ values: [Double]) -> Double? {
        guard let number, number < UInt32(values.count) else { return nil }
        return values[Int(number)]
    }
}
