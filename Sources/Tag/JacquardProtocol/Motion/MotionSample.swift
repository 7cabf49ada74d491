/// One sample of the motion sensor: 16 bytes, low byte first.
///
/// Source: JacquardSDKiOS, `IMUSample`.
public struct MotionSample: Hashable, Sendable {
    /// Acceleration along x, y and z, in units of the configured range.
    public var acceleration: SIMD3<Int16>
    /// Angular velocity around x (roll), y (pitch) and z (yaw), in units of the configured range.
    public var rotation: SIMD3<Int16>
    /// The tag's clock, see ``tickMicroseconds``. It does not start at 0.
    public var ticks: UInt32

    /// The length of a sample in bytes.
    public static let byteCount = 16
    /// The presumed length of a tick in microseconds. No source gives it: in recordings of the SDK's tests, 200 Hz are 156.66
    /// ticks per sample, which makes 199.5 Hz.
    public static let tickMicroseconds: UInt64 = 32

    /// Creates a sample.
    public init(acceleration: SIMD3<Int16>, rotation: SIMD3<Int16>, ticks: UInt32) {
        self.acceleration = acceleration
        self.rotation = rotation
        self.ticks = ticks
    }

    /// Reads the sample at an offset; nil if fewer than 16 bytes follow.
    public init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= Self.byteCount else { return nil }
        let start = bytes.startIndex
        func word(_ index: Int) -> Int16 {
            Int16(bitPattern: UInt16(bytes[start + 2 * index]) | UInt16(bytes[start + 2 * index + 1]) << 8)
        }
        acceleration = SIMD3(word(0), word(1), word(2))
        rotation = SIMD3(word(3), word(4), word(5))
        ticks = UInt32(UInt16(bitPattern: word(6))) | UInt32(UInt16(bitPattern: word(7))) << 16
    }

    /// The 16 bytes.
    public var encoded: [UInt8] {
        let words = [acceleration.x, acceleration.y, acceleration.z, rotation.x, rotation.y, rotation.z]
        return words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
            + (0..<4).map { UInt8(truncatingIfNeeded: ticks >> (8 * $0)) }
    }
}

/// Counts samples that are missing in a stream or a file, by their ticks.
///
/// A step of more than one and a half times the usual one is a loss. In the recordings of the SDK's tests the longest step is
/// 1.05 times the mean.
public struct MotionLossCounter: Sendable {
    /// The number of missing samples.
    public private(set) var lost = 0
    /// The usual step in ticks; 0 before the second sample.
    public private(set) var step: UInt32 = 0
    private var last: UInt32?

    /// Creates a counter.
    public init() {}

    /// Counts the samples that are missing before this one.
    public mutating func add(_ ticks: UInt32) {
        defer { last = ticks }
        guard let last else { return }
        let difference = ticks &- last
        // The clock was set back, or the tag has restarted: not a loss.
        guard difference > 0, difference < 1 << 31 else { return }
        if step == 0 || difference < step / 2 { return step = difference }
        let tooLong = UInt64(step) * 3 / 2
        guard UInt64(difference) > tooLong else {
            // Follows slow changes: the step is the mean of about 16 steps.
            step = UInt32((UInt64(step) * 15 + UInt64(difference) + 8) / 16)
            return
        }
        lost += max(1, Int((UInt64(difference) + UInt64(step) / 2) / UInt64(step)) - 1)
    }
}

/// A value of a stream of motion data, which is not framed.
///
/// Source: JacquardSDKiOS, `IMUModuleImplementation`; protocol article, "Motion".
public struct MotionValue: Hashable, Sendable {
    /// The first byte.
    public static let marker: UInt8 = 0xC0

    /// 0 for the tag, 1 for gear.
    public let sensor: UInt8
    /// Whole samples of 16 bytes; a remainder is ignored.
    public let samples: ArraySlice<UInt8>

    /// Reads a value; nil if it is not of a stream, or has no sample.
    ///
    /// A fragment of a packet can begin with the same byte. It then has a length and not a sensor, so read a value as a
    /// stream only while a stream runs.
    public init?(_ value: [UInt8]) {
        guard value.count >= 2 + MotionSample.byteCount, value[0] == Self.marker, value[1] <= 1 else { return nil }
        sensor = value[1]
        let count = (value.count - 2) / MotionSample.byteCount * MotionSample.byteCount
        samples = value[2..<(2 + count)]
    }

    /// The number of samples.
    public var count: Int { samples.count / MotionSample.byteCount }

    /// Reads the samples.
    public func forEach(_ body: (MotionSample) -> Void) {
        for start in stride(from: samples.startIndex, to: samples.endIndex, by: MotionSample.byteCount) {
            if let sample = MotionSample(samples[start...]) { body(sample) }
        }
    }
}
