/// A pattern of gear's vibration motor.
///
/// Source: `HapticSymbol` in `HapticRequest` (extension 906), all five fields required.
public struct HapticPattern: Hashable, Sendable {
    /// The shape of one symbol. The numbers are those of `HapticSymbolType` on the wire.
    public enum Symbol: UInt32, Hashable, Sendable, CaseIterable {
        /// Stop.
        case halted = 0
        /// Rising sine.
        case sineIncrease = 1
        /// Falling sine.
        case sineDecrease = 2
        /// Rising line.
        case linearIncrease = 3
        /// Falling line.
        case linearDecrease = 4
        /// Rising parabola.
        case parabolicIncrease = 5
        /// Falling parabola.
        case parabolicDecrease = 6
        /// The same all the time.
        case constantOn = 7
    }

    /// Shape of the symbol.
    public var symbol: Symbol
    /// Milliseconds of vibration, 16 bits.
    public var onMilliseconds: UInt16
    /// Milliseconds of silence behind it, 16 bits.
    public var offMilliseconds: UInt16
    /// Percent, 0 to 100.
    public var maxAmplitudePercent: UInt8
    /// Number of plays minus one, 8 bits.
    public var repeatNMinusOne: UInt8

    /// Describes a pattern.
    public init(
        symbol: Symbol,
        onMilliseconds: UInt16,
        offMilliseconds: UInt16,
        maxAmplitudePercent: UInt8,
        repeatNMinusOne: UInt8
    ) {
        self.symbol = symbol
        self.onMilliseconds = onMilliseconds
        self.offMilliseconds = offMilliseconds
        self.maxAmplitudePercent = maxAmplitudePercent
        self.repeatNMinusOne = repeatNMinusOne
    }

    /// Stops what is playing.
    public static let stop = HapticPattern(
        symbol: .halted, onMilliseconds: 0, offMilliseconds: 0, maxAmplitudePercent: 0, repeatNMinusOne: 0)
}
