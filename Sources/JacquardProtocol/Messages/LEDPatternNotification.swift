import ProtobufWire

/// Tells of a pattern on the LED. When a tag sends it is not known, and no SDK uses it.
///
/// Source: `LedPatternNotification`, extension 118 of `Notification`.
public struct LEDPatternNotification: Hashable, Sendable {
    /// Which pattern.
    public var patternUID: UInt32?

    /// Names no pattern.
    public init() {}
}

extension LEDPatternNotification: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        if field.number == 1 { field.read(&patternUID) }
    }

    func write(to writer: inout WireWriter) {
        writer.write(patternUID, field: 1)
    }
}
