/// A gesture on the gear. Numbers without a name are passed on, to support gestures of other firmware.
///
/// Source: `InferenceData.event`; JacquardSDKiOS, `Gesture.swift`.
public struct Gesture: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public let rawValue: UInt32

    /// Creates a gesture from any number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Two taps.
    public static let doubleTap = Gesture(rawValue: 1)
    /// A stroke towards the body.
    public static let brushIn = Gesture(rawValue: 2)
    /// A stroke away from the body.
    public static let brushOut = Gesture(rawValue: 3)
    /// The flat hand laid on the lines; the SDK shows it as "Cover".
    public static let shortCover = Gesture(rawValue: 7)
    /// A stroke upwards.
    public static let brushUp = Gesture(rawValue: 13)
    /// A stroke downwards.
    public static let brushDown = Gesture(rawValue: 14)

    /// The gestures that a user can make, in the order of their numbers.
    public static let known: [Gesture] = [.doubleTap, .brushIn, .brushOut, .shortCover, .brushUp, .brushDown]
}

/// One sample of the woven lines in continuous touch mode.
///
/// Source: `TouchData.diff_data_scaled`, 13 bytes: proximity, then twelve lines. 0 to 128 each.
public struct TouchData: Hashable, Sendable {
    /// Grows within one touch; a smaller number than before means that the finger was lifted in between.
    public let sequence: UInt32
    /// How near the hand is.
    public let proximity: UInt8
    /// Twelve values, one a line.
    public let lines: [UInt8]

    /// Takes the 13 bytes of the wire.
    ///
    /// - Returns: nil when there are not exactly 13; the SDK drops those too.
    public init?(sequence: UInt32, scaled: [UInt8]) {
        guard let proximity = scaled.first, scaled.count == 13 else { return nil }
        self.sequence = sequence
        self.proximity = proximity
        lines = Array(scaled.dropFirst())
    }
}

/// The reports of gear while it is touched.
public enum TouchMode: Hashable, Sendable, CaseIterable {
    /// Recognised gestures. Set by the client whenever gear is attached.
    case gesture
    /// The values of the lines, and no gestures.
    case continuous

    /// How many notifications the tag may hold back in this mode; a short queue keeps touch data fresh.
    ///
    /// Source: JacquardSDKiOS, `SetTouchModeCommand`, `notif_queue_depth`.
    public var notificationQueueDepth: UInt32 {
        switch self {
        case .gesture: 14
        case .continuous: 2
        }
    }
}

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
