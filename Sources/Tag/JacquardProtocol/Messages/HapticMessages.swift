/// Plays on the gear's motor.
///
/// Source: `HapticRequest`, extension 906 of `Request`.
public struct HapticRequest: Equatable, Sendable, WireMessage {
    /// The symbol to play; only one, although the schema calls the field `frames`.
    public var symbol: HapticSymbol?
    /// Not set by the SDKs.
    public var pauseBetweenCyclesMilliseconds: UInt32?
    /// Not set by the SDKs.
    public var repeatFullPattern: UInt32?
    /// Not set by the SDKs.
    public var intensityLevel: UInt32?

    /// Creates an empty request.
    public init() {}

    /// Creates a request with the field that the SDKs write for a pattern.
    public init(_ pattern: HapticPattern) {
        symbol = HapticSymbol(pattern)
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &symbol)
        try fields.optional(2, &pauseBetweenCyclesMilliseconds)
        try fields.optional(3, &repeatFullPattern)
        try fields.optional(4, &intensityLevel)
    }
}

/// The response to a haptic request; it has no fields.
///
/// Source: `HapticResponse`, extension 906 of `Response`.
public struct HapticResponse: Equatable, Sendable, WireMessage {
    /// Creates the response.
    public init() {}

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {}
}

/// A pattern of vibration on the wire.
///
/// Source: `HapticSymbol` of the schema; the ranges are in its comments.
public struct HapticSymbol: Equatable, Sendable {
    /// Milliseconds of vibration, 16 bits.
    public var onMilliseconds: UInt32
    /// Milliseconds of silence after it, 16 bits.
    public var offMilliseconds: UInt32
    /// A number of `HapticSymbolType`, see ``HapticPattern/Symbol``.
    public var pattern: UInt32
    /// The amplitude in percent.
    public var maxAmplitudePercent: UInt32
    /// The number of repetitions minus one, 8 bits.
    public var repeatNMinusOne: UInt32

    /// Creates a symbol.
    public init(
        onMilliseconds: UInt32,
        offMilliseconds: UInt32,
        pattern: UInt32,
        maxAmplitudePercent: UInt32,
        repeatNMinusOne: UInt32
    ) {
        self.onMilliseconds = onMilliseconds
        self.offMilliseconds = offMilliseconds
        self.pattern = pattern
        self.maxAmplitudePercent = maxAmplitudePercent
        self.repeatNMinusOne = repeatNMinusOne
    }

    /// Creates the symbol of a pattern.
    public init(_ pattern: HapticPattern) {
        self.init(
            onMilliseconds: UInt32(pattern.onMilliseconds),
            offMilliseconds: UInt32(pattern.offMilliseconds),
            pattern: pattern.symbol.rawValue,
            maxAmplitudePercent: UInt32(pattern.maxAmplitudePercent),
            repeatNMinusOne: UInt32(pattern.repeatNMinusOne))
    }

    /// The pattern; nil if the symbol's number is unknown or another number is out of range.
    public var hapticPattern: HapticPattern? {
        guard let symbol = HapticPattern.Symbol(rawValue: pattern), maxAmplitudePercent <= 100,
            let on = UInt16(exactly: onMilliseconds), let off = UInt16(exactly: offMilliseconds),
            let repeats = UInt8(exactly: repeatNMinusOne)
        else {
            return nil
        }
        return HapticPattern(
            symbol: symbol,
            onMilliseconds: on,
            offMilliseconds: off,
            maxAmplitudePercent: UInt8(maxAmplitudePercent),
            repeatNMinusOne: repeats)
    }
}

extension HapticSymbol: WireMessage {
    init() {
        self.init(onMilliseconds: 0, offMilliseconds: 0, pattern: 0, maxAmplitudePercent: 0, repeatNMinusOne: 0)
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.required(1, &onMilliseconds, "HapticSymbol.on_ms")
        try fields.required(2, &offMilliseconds, "HapticSymbol.off_ms")
        try fields.required(3, &pattern, "HapticSymbol.pattern")
        try fields.required(4, &maxAmplitudePercent, "HapticSymbol.max_amplitude_percent")
        try fields.required(5, &repeatNMinusOne, "HapticSymbol.repeat_n_minus_one")
    }
}
