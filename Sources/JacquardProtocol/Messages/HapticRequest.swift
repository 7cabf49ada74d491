import ProtobufWire

/// Plays on the motor of gear.
///
/// Source: `HapticRequest`, extension 906 of `Request`.
public struct HapticRequest: Hashable, Sendable {
    /// What to play: one symbol, although the schema calls the field `frames`.
    public var symbol: HapticSymbol?
    /// Not set by the SDKs.
    public var pauseBetweenCyclesMilliseconds: UInt32?
    /// Not set by the SDKs.
    public var repeatFullPattern: UInt32?
    /// Not set by the SDKs.
    public var intensityLevel: UInt32?

    /// Asks for nothing.
    public init() {}

    /// The field that the SDKs write for a pattern.
    public init(_ pattern: HapticPattern) {
        symbol = HapticSymbol(pattern)
    }
}

extension HapticRequest: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: try field.read(&symbol)
        case 2: field.read(&pauseBetweenCyclesMilliseconds)
        case 3: field.read(&repeatFullPattern)
        case 4: field.read(&intensityLevel)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(symbol, field: 1)
        writer.write(pauseBetweenCyclesMilliseconds, field: 2)
        writer.write(repeatFullPattern, field: 3)
        writer.write(intensityLevel, field: 4)
    }
}
