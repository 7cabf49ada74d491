import ProtobufWire

/// How the touch sensor of gear is set up. No SDK reads it.
///
/// Source: `TouchConfigData` of the schema.
public struct TouchConfiguration: Hashable, Sendable {
    /// One part of the sensor.
    ///
    /// Source: `TouchWidgetConfig` of the schema.
    public struct Widget: Hashable, Sendable {
        /// Resolution.
        public var resolution: UInt32
        /// Divisor of the sensor's clock.
        public var sensorClockFrequencyDivisor: UInt32
        /// Value of the modulator's current source.
        public var modulatorCurrentValue: UInt32

        /// Describes a part.
        public init(resolution: UInt32, sensorClockFrequencyDivisor: UInt32, modulatorCurrentValue: UInt32) {
            self.resolution = resolution
            self.sensorClockFrequencyDivisor = sensorClockFrequencyDivisor
            self.modulatorCurrentValue = modulatorCurrentValue
        }
    }

    /// The parts.
    public var widgets: [Widget] = []
    /// Values of the compensating current sources, a byte each.
    public var compensationValues: [UInt8]?
    /// Divisor of the modulator's clock.
    public var modulatorClockDivisor: UInt32?

    /// Says nothing.
    public init() {}
}

extension TouchConfiguration: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: try field.read(&widgets)
        case 2: field.read(&compensationValues)
        case 3: field.read(&modulatorClockDivisor)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        for widget in widgets { writer.write(widget, field: 1) }
        writer.write(compensationValues, field: 2)
        writer.write(modulatorClockDivisor, field: 3)
    }
}

extension TouchConfiguration.Widget: WireMessage {
    init(_ reader: inout WireReader) throws(MessageError) {
        var resolution: UInt32?
        var divisor: UInt32?
        var current: UInt32?
        while let field = try reader.next() {
            switch field.number {
            case 1: field.read(&resolution)
            case 2: field.read(&divisor)
            case 3: field.read(&current)
            default: break
            }
        }
        self.init(
            resolution: try resolution.required("TouchWidgetConfig.resolution"),
            sensorClockFrequencyDivisor: try divisor.required("TouchWidgetConfig.sensor_clk_freq_divisor"),
            modulatorCurrentValue: try current.required("TouchWidgetConfig.idac_mod_value"))
    }

    func write(to writer: inout WireWriter) {
        writer.write(resolution, field: 1)
        writer.write(sensorClockFrequencyDivisor, field: 2)
        writer.write(modulatorCurrentValue, field: 3)
    }
}
