/// Whether gear reports gestures, or touches. Any number may occur.
///
/// Source: `DataStreamState` of the schema.
public struct DataStreamState: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public let rawValue: UInt32

    /// Accepts any number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The stream is off.
    public static let disabled = DataStreamState(rawValue: 0)
    /// The stream is on.
    public static let enabled = DataStreamState(rawValue: 1)
}

/// The states of the two streams of gear, fields 1 and 2 of ``DataChannelRequest`` and ``DataChannelResponse``.
public struct DataStreams: Equatable, Sendable {
    /// Whether gear reports gestures.
    public var inference: DataStreamState?
    /// Whether gear reports touches.
    public var touch: DataStreamState?

    /// Creates the states without a value.
    public init() {}

    /// Creates the states of a mode: exactly one stream is on.
    public init(_ mode: TouchMode) {
        switch mode {
        case .gesture: (inference, touch) = (.enabled, .disabled)
        case .continuous: (inference, touch) = (.disabled, .enabled)
        }
    }

    /// The mode with these states; nil if there is none.
    public var touchMode: TouchMode? { TouchMode.allCases.first { DataStreams($0) == self } }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &inference)
        try fields.optional(2, &touch)
    }
}

/// Chooses what gear reports while it is touched.
///
/// Source: `DataChannelRequest`, extension 907 of `Request`.
public struct DataChannelRequest: Equatable, Sendable, WireMessage {
    /// The requested states of the streams.
    public var streams = DataStreams()

    /// Creates a request that changes nothing.
    public init() {}

    /// Creates a request for a mode.
    public init(_ mode: TouchMode) {
        streams = DataStreams(mode)
    }

    /// The requested mode; nil if the two fields are those of no mode.
    public var touchMode: TouchMode? { streams.touchMode }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try streams.visit(&fields)
    }
}

/// The response to a change of touch mode: what gear reports from now on.
///
/// Source: `DataChannelResponse`, extension 907 of `Response`.
public struct DataChannelResponse: Equatable, Sendable, WireMessage {
    /// The confirmed states of the streams.
    public var streams = DataStreams()
    /// The sensor's configuration; real gear sends it with continuous touch.
    public var touchConfiguration: TouchConfiguration?

    /// Creates an empty response.
    public init() {}

    /// Creates a response that confirms a mode.
    public init(_ mode: TouchMode) {
        streams = DataStreams(mode)
    }

    /// The confirmed mode; nil if the two fields are those of no mode.
    public var touchMode: TouchMode? { streams.touchMode }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try streams.visit(&fields)
        try fields.optional(3, &touchConfiguration)
    }
}

/// How the gear's touch sensor is configured. No SDK reads it.
///
/// Source: `TouchConfigData` of the schema.
public struct TouchConfiguration: Equatable, Sendable, WireMessage {
    /// One part of the sensor.
    ///
    /// Source: `TouchWidgetConfig` of the schema.
    public struct Widget: Equatable, Sendable {
        /// The resolution.
        public var resolution: UInt32
        /// The divisor of the sensor's clock.
        public var sensorClockFrequencyDivisor: UInt32
        /// The value of the modulator's current source.
        public var modulatorCurrentValue: UInt32

        /// Creates a part.
        public init(resolution: UInt32, sensorClockFrequencyDivisor: UInt32, modulatorCurrentValue: UInt32) {
            self.resolution = resolution
            self.sensorClockFrequencyDivisor = sensorClockFrequencyDivisor
            self.modulatorCurrentValue = modulatorCurrentValue
        }
    }

    /// The parts.
    public var widgets: [Widget] = []
    /// The values of the compensating current sources, a byte each.
    public var compensationValues: [UInt8]?
    /// The divisor of the modulator's clock.
    public var modulatorClockDivisor: UInt32?

    /// Creates an empty configuration.
    public init() {}

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.repeated(1, &widgets)
        try fields.optional(2, &compensationValues)
        try fields.optional(3, &modulatorClockDivisor)
    }
}

extension TouchConfiguration.Widget: WireMessage {
    init() {
        self.init(resolution: 0, sensorClockFrequencyDivisor: 0, modulatorCurrentValue: 0)
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.required(1, &resolution, "TouchWidgetConfig.resolution")
        try fields.required(2, &sensorClockFrequencyDivisor, "TouchWidgetConfig.sensor_clk_freq_divisor")
        try fields.required(3, &modulatorCurrentValue, "TouchWidgetConfig.idac_mod_value")
    }
}

/// A report of gear: a gesture, a touch, or both.
///
/// Source: `DataChannelNotification`, extension 917 of `Notification`.
public struct DataChannelNotification: Equatable, Sendable, WireMessage {
    /// The gesture on the wire.
    public var inferenceData: InferenceData?
    /// The touch on the wire.
    public var touchData: TouchDataMessage?
    /// The time, in ticks of unknown length.
    public var timestampTicks: UInt32?

    /// Creates an empty notification.
    public init() {}

    /// Creates a notification of a gesture.
    public init(_ gesture: Gesture) {
        inferenceData = InferenceData(gesture)
    }

    /// Creates a notification of a touch.
    public init(_ touch: TouchData) {
        touchData = TouchDataMessage(touch)
    }

    /// The gesture; nil if there is none.
    public var gesture: Gesture? { inferenceData?.gesture }

    /// The touch; nil if there is none, or if it does not have exactly 13 values.
    public var touch: TouchData? { touchData?.touch }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &inferenceData)
        try fields.optional(2, &touchData)
        try fields.optional(3, &timestampTicks)
    }
}

/// A recognised gesture on the wire.
///
/// Source: `InferenceData` of the schema.
public struct InferenceData: Equatable, Sendable, WireMessage {
    /// The gesture; any number may occur.
    public var gesture: Gesture?

    /// Creates an empty message.
    public init() {}

    /// Creates the message of a gesture.
    public init(_ gesture: Gesture) {
        self.gesture = gesture
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &gesture)
    }
}

/// A touch on the wire; the SDKs use only the sequence and the scaled values.
///
/// Source: `TouchData` of the schema.
public struct TouchDataMessage: Equatable, Sendable, WireMessage {
    /// Not used by the SDKs.
    public var proximityDifference: UInt32?
    /// Not used by the SDKs.
    public var touchDifferences: [UInt8]?
    /// Not used by the SDKs.
    public var inferenceResult: UInt32?
    /// Increases within one touch.
    public var sequence: UInt32?
    /// Not used by the SDKs.
    public var crc16: UInt32?
    /// Not used by the SDKs.
    public var confidences: [UInt8]?
    /// Proximity, then twelve lines; 0 to 128 each.
    public var scaledValues: [UInt8]?
    /// Not used by the SDKs.
    public var rawValues: [UInt8]?

    /// Creates an empty message.
    public init() {}

    /// Creates the message of a touch.
    public init(_ touch: TouchData) {
        sequence = touch.sequence
        scaledValues = [touch.proximity] + touch.lines
    }

    /// The touch; nil unless there are exactly 13 scaled values. An absent sequence counts as 0.
    public var touch: TouchData? {
        scaledValues.flatMap { TouchData(sequence: sequence ?? 0, scaled: $0) }
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &proximityDifference)
        try fields.optional(2, &touchDifferences)
        try fields.optional(3, &inferenceResult)
        try fields.optional(4, &sequence)
        try fields.optional(5, &crc16)
        try fields.optional(6, &confidences)
        try fields.optional(7, &scaledValues)
        try fields.optional(8, &rawValues)
    }
}
