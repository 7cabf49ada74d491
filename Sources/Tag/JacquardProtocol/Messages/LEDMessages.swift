/// Plays on an LED; the envelope names the component.
///
/// Source: `LedPatternRequest`, extension 118 of `Request`.
public struct LEDPatternRequest: Equatable, Sendable, WireMessage {
    /// Not set by the SDKs.
    public var patternUID: UInt32?
    /// A number of `PatternType`, see ``LEDPattern/Kind``.
    public var patternType: UInt32?
    /// The colours, repeated for the duration.
    public var frames: [LEDPatternFrame] = []
    /// Not set by the SDKs.
    public var pauseBetweenCyclesMilliseconds: UInt32?
    /// The duration in milliseconds.
    public var durationMilliseconds: UInt32?
    /// The brightness in percent.
    public var intensityLevel: UInt32?
    /// Not set by the SDKs.
    public var priorityLevel: UInt32?
    /// A number of `PatternPlayType`, see ``LEDPattern/PlayType``.
    public var playType: UInt32?
    /// Whether the pattern continues after an interruption.
    public var isResumable: Bool?
    /// Whether the request stops every pattern instead.
    public var haltsAll: Bool?
    /// Not set by the SDKs.
    public var numberOfCycles: UInt32?

    /// Creates an empty request.
    public init() {}

    /// Creates a request with the fields that the iOS SDK writes for a pattern, including those that are false or 0.
    ///
    /// The intensity is always 100 %.
    public init(_ pattern: LEDPattern) {
        patternType = pattern.kind.rawValue
        frames = pattern.frames.map(LEDPatternFrame.init)
        durationMilliseconds = pattern.durationMilliseconds
        intensityLevel = 100
        playType = pattern.playType.rawValue
        isResumable = pattern.isResumable
        haltsAll = pattern.haltsAll
    }

    /// The pattern; absent fields count as 0 or false.
    ///
    /// It is nil if the type of pattern or of play is unknown, or if a part of a colour is above 255.
    public var pattern: LEDPattern? {
        let frames = frames.compactMap(\.frame)
        guard frames.count == self.frames.count, let kind = patternType.flatMap(LEDPattern.Kind.init),
            let playType = LEDPattern.PlayType(rawValue: playType ?? 0)
        else {
            return nil
        }
        return LEDPattern(
            kind: kind,
            frames: frames,
            durationMilliseconds: durationMilliseconds ?? 0,
            playType: playType,
            isResumable: isResumable ?? false,
            haltsAll: haltsAll ?? false)
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &patternUID)
        try fields.optional(2, &patternType)
        try fields.repeated(3, &frames)
        try fields.optional(4, &pauseBetweenCyclesMilliseconds)
        try fields.optional(5, &durationMilliseconds)
        try fields.optional(6, &intensityLevel)
        try fields.optional(7, &priorityLevel)
        try fields.optional(8, &playType)
        try fields.optional(9, &isResumable)
        try fields.optional(10, &haltsAll)
        try fields.optional(11, &numberOfCycles)
    }
}

/// One colour of an LED pattern and how long it is shown.
///
/// Source: `LedPatternFrames` of the schema.
public struct LEDPatternFrame: Equatable, Sendable, WireMessage {
    /// A colour on the wire; each part is 0 to 255.
    ///
    /// Source: `Color` of the schema.
    public struct Color: Equatable, Sendable, WireMessage {
        /// Red.
        public var red: UInt32?
        /// Green.
        public var green: UInt32?
        /// Blue.
        public var blue: UInt32?

        /// Creates a colour without parts, which is black.
        public init() {}

        mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
            try fields.optional(1, &red)
            try fields.optional(2, &green)
            try fields.optional(3, &blue)
        }
    }

    /// The colour.
    public var color: Color?
    /// The duration in milliseconds.
    public var lengthMilliseconds: UInt32?

    /// Creates an empty frame.
    public init() {}

    /// Creates a frame that contains every part of the colour, including those that are 0.
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

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &color)
        try fields.optional(2, &lengthMilliseconds)
    }
}

/// The state of an LED pattern. When a tag sends it is not known; no SDK uses it.
///
/// Source: `LedPatternNotification`, extension 118 of `Notification`.
public struct LEDPatternNotification: Equatable, Sendable, WireMessage {
    /// The pattern's number.
    public var patternUID: UInt32?

    /// Creates an empty notification.
    public init() {}

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &patternUID)
    }
}

extension Notification {
    /// The state of an LED pattern.
    public var ledPattern: LEDPatternNotification? {
        get { self[ExtensionNumber.ledPattern] }
        set { self[ExtensionNumber.ledPattern] = newValue }
    }
}
