import ProtobufWire

/// What gear felt: a gesture, a touch, or both.
///
/// Source: `DataChannelNotification`, extension 917 of `Notification`.
public struct DataChannelNotification: Hashable, Sendable {
    /// The gesture on the wire.
    public var inferenceData: InferenceData?
    /// The touch on the wire.
    public var touchData: TouchDataMessage?
    /// When, in ticks of unknown length.
    public var timestampTicks: UInt32?

    /// Says nothing.
    public init() {}

    /// Tells a gesture.
    public init(_ gesture: Gesture) {
        inferenceData = InferenceData(gesture)
    }

    /// Tells a touch.
    public init(_ touch: TouchData) {
        touchData = TouchDataMessage(touch)
    }

    /// The gesture; nil if there is none.
    public var gesture: Gesture? { inferenceData?.gesture }

    /// The touch; nil if there is none, or its values are not 13.
    public var touch: TouchData? { touchData?.touch }
}

extension DataChannelNotification: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: try field.read(&inferenceData)
        case 2: try field.read(&touchData)
        case 3: field.read(&timestampTicks)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(inferenceData, field: 1)
        writer.write(touchData, field: 2)
        writer.write(timestampTicks, field: 3)
    }
}
