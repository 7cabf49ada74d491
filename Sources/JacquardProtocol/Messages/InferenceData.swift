import ProtobufWire

/// A recognised gesture as it is on the wire.
///
/// Source: `InferenceData` of the schema.
public struct InferenceData: Hashable, Sendable {
    /// The gesture; any number may come.
    public var gesture: Gesture?

    /// Says nothing.
    public init() {}

    /// Tells a gesture.
    public init(_ gesture: Gesture) {
        self.gesture = gesture
    }
}

extension InferenceData: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        if field.number == 1 { field.read(&gesture) }
    }

    func write(to writer: inout WireWriter) {
        writer.write(gesture, field: 1)
    }
}
