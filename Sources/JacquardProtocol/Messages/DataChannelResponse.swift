import ProtobufWire

/// The answer to a change of touch mode: what gear reports from now on.
///
/// Source: `DataChannelResponse`, extension 907 of `Response`.
public struct DataChannelResponse: Hashable, Sendable {
    /// Whether it reports gestures.
    public var inference: DataStreamState?
    /// Whether it reports touches.
    public var touch: DataStreamState?
    /// How its sensor is set up; real gear sends it with continuous touch.
    public var touchConfiguration: TouchConfiguration?

    /// Says nothing.
    public init() {}

    /// Confirms a mode.
    public init(_ mode: TouchMode) {
        (inference, touch) = mode.streams
    }

    /// The mode that is confirmed; nil if the two fields are those of no mode.
    public var touchMode: TouchMode? { TouchMode(inference: inference, touch: touch) }
}

extension DataChannelResponse: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&inference)
        case 2: field.read(&touch)
        case 3: try field.read(&touchConfiguration)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(inference, field: 1)
        writer.write(touch, field: 2)
        writer.write(touchConfiguration, field: 3)
    }
}
