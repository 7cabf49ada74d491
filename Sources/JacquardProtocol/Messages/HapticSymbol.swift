import ProtobufWire

/// A pattern of vibration as it is on the wire.
///
/// Source: `HapticSymbol` of the schema; the ranges are in its comments.
public struct HapticSymbol: Hashable, Sendable {
    /// Milliseconds of vibration, 16 bits.
    public var onMilliseconds: UInt32
    /// Milliseconds of silence behind it, 16 bits.
    public var offMilliseconds: UInt32
    /// A number of `HapticSymbolType`, see ``HapticPattern/Symbol``.
    public var pattern: UInt32
    /// Percent.
    public var maxAmplitudePercent: UInt32
    /// Number of plays minus one, 8 bits.
    public var repeatNMinusOne: UInt32

    /// Describes a symbol.
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

    /// The symbol of a pattern.
    public init(_ pattern: HapticPattern) {
        self.init(
            onMilliseconds: UInt32(pattern.onMilliseconds),
            offMilliseconds: UInt32(pattern.offMilliseconds),
            pattern: pattern.symbol.rawValue,
            maxAmplitudePercent: UInt32(pattern.maxAmplitudePercent),
            repeatNMinusOne: UInt32(pattern.repeatNMinusOne))
    }

    /// The pattern; nil if its shape has no name, or a number is out of range.
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
    init(_ reader: inout WireReader) throws(MessageError) {
        var on: UInt32?
        var off: UInt32?
        var pattern: UInt32?
        var amplitude: UInt32?
        var repeats: UInt32?
        while let field = try reader.next() {
            switch field.number {
            case 1: field.read(&on)
            case 2: field.read(&off)
            case 3: field.read(&pattern)
            case 4: field.read(&amplitude)
            case 5: field.read(&repeats)
            default: break
            }
        }
        self.init(
            onMilliseconds: try on.required("HapticSymbol.on_ms"),
            offMilliseconds: try off.required("HapticSymbol.off_ms"),
            pattern: try pattern.required("HapticSymbol.pattern"),
            maxAmplitudePercent: try amplitude.required("HapticSymbol.max_amplitude_percent"),
            repeatNMinusOne: try repeats.required("HapticSymbol.repeat_n_minus_one"))
    }

    func write(to writer: inout WireWriter) {
        writer.write(onMilliseconds, field: 1)
        writer.write(offMilliseconds, field: 2)
        writer.write(pattern, field: 3)
        writer.write(maxAmplitudePercent, field: 4)
        writer.write(repeatNMinusOne, field: 5)
    }
}
