import ProtobufWire

/// A touch as it is on the wire; the SDKs use the sequence and the scaled values alone.
///
/// Source: `TouchData` of the schema.
public struct TouchDataMessage: Hashable, Sendable {
    /// Not used by the SDKs.
    public var proximityDifference: UInt32?
    /// Not used by the SDKs.
    public var touchDifferences: [UInt8]?
    /// Not used by the SDKs.
    public var inferenceResult: UInt32?
    /// Grows within one touch.
    public var sequence: UInt32?
    /// Not used by the SDKs.
    public var crc16: UInt32?
    /// Not used by the SDKs.
    public var confidences: [UInt8]?
    /// Proximity, then twelve lines; 0 to 128 each.
    public var scaledValues: [UInt8]?
    /// Not used by the SDKs.
    public var rawValues: [UInt8]?

    /// Says nothing.
    public init() {}

    /// Tells a touch.
    public init(_ touch: TouchData) {
        sequence = touch.sequence
        scaledValues = [touch.proximity] + touch.lines
    }

    /// The touch, an absent sequence counting as 0; nil if there are not exactly 13 scaled values.
    public var touch: TouchData? {
        scaledValues.flatMap { TouchData(sequence: sequence ?? 0, scaled: $0) }
    }
}

extension TouchDataMessage: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&proximityDifference)
        case 2: field.read(&touchDifferences)
        case 3: field.read(&inferenceResult)
        case 4: field.read(&sequence)
        case 5: field.read(&crc16)
        case 6: field.read(&confidences)
        case 7: field.read(&scaledValues)
        case 8: field.read(&rawValues)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(proximityDifference, field: 1)
        writer.write(touchDifferences, field: 2)
        writer.write(inferenceResult, field: 3)
        writer.write(sequence, field: 4)
        writer.write(crc16, field: 5)
        writer.write(confidences, field: 6)
        writer.write(scaledValues, field: 7)
        writer.write(rawValues, field: 8)
    }
}
