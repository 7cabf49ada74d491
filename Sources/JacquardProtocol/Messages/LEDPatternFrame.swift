import ProtobufWire

/// One colour of an LED pattern and how long it is shown.
///
/// Source: `LedPatternFrames` of the schema.
public struct LEDPatternFrame: Hashable, Sendable {
    /// A colour as it is on the wire, each part 0 to 255.
    ///
    /// Source: `Color` of the schema.
    public struct Color: Hashable, Sendable {
        /// Red.
        public var red: UInt32?
        /// Green.
        public var green: UInt32?
        /// Blue.
        public var blue: UInt32?

        /// Says nothing.
        public init() {}
    }

    /// The colour.
    public var color: Color?
    /// Milliseconds.
    public var lengthMilliseconds: UInt32?

    /// Says nothing.
    public init() {}

    /// Writes every part of the colour, even where it is 0.
    public init(_ frame: LEDPattern.Frame) {
        var color = Color()
        color.red = UInt32(frame.color.red)
        color.green = UInt32(frame.color.green)
        color.blue = UInt32(frame.color.blue)
        self.color = color
        lengthMilliseconds = frame.lengthMilliseconds
    }

    /// The frame; absent fields count as 0. It is nil if a part of the colour is above 255.
    public var frame: LEDPattern.Frame? {
        guard let red = UInt8(exactly: color?.red ?? 0), let green = UInt8(exactly: color?.green ?? 0),
            let blue = UInt8(exactly: color?.blue ?? 0)
        else {
            return nil
        }
        return LEDPattern.Frame(
            color: LEDPattern.Color(red: red, green: green, blue: blue), lengthMilliseconds: lengthMilliseconds ?? 0)
    }
}

extension LEDPatternFrame: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: try field.read(&color)
        case 2: field.read(&lengthMilliseconds)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(color, field: 1)
        writer.write(lengthMilliseconds, field: 2)
    }
}

extension LEDPatternFrame.Color: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&red)
        case 2: field.read(&green)
        case 3: field.read(&blue)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(red, field: 1)
        writer.write(green, field: 2)
        writer.write(blue, field: 3)
    }
}
