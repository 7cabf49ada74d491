import ProtobufWire

/// Switches what gear reports while it is touched.
///
/// Source: `DataChannelRequest`, extension 907 of `Request`.
public struct DataChannelRequest: Hashable, Sendable {
    /// Whether to report gestures.
    public var inference: DataStreamState?
    /// Whether to report touches.
    public var touch: DataStreamState?

    /// Changes nothing.
    public init() {}

    /// Switches to a mode.
    public init(_ mode: TouchMode) {
        (inference, touch) = mode.streams
    }

    /// The mode that is asked for; nil if the two fields are those of no mode.
    public var touchMode: TouchMode? { TouchMode(inference: inference, touch: touch) }
}

extension DataChannelRequest: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&inference)
        case 2: field.read(&touch)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(inference, field: 1)
        writer.write(touch, field: 2)
    }
}
