import ProtobufWire

/// Plays on an LED. Which LED is said by the envelope.
///
/// Source: `LedPatternRequest`, extension 118 of `Request`.
public struct LEDPatternRequest: Hashable, Sendable {
    /// Not set by the SDKs.
    public var patternUID: UInt32?
    /// A number of `PatternType`, see ``LEDPattern/Kind``.
    public var patternType: UInt32?
    /// What to play, repeated until the duration has passed.
    public var frames: [LEDPatternFrame] = []
    /// Not set by the SDKs.
    public var pauseBetweenCyclesMilliseconds: UInt32?
    /// How long to play, in milliseconds.
    public var durationMilliseconds: UInt32?
    /// Brightness in percent.
    public var intensityLevel: UInt32?
    /// Not set by the SDKs.
    public var priorityLevel: UInt32?
    /// A number of `PatternPlayType`, see ``LEDPattern/PlayType``.
    public var playType: UInt32?
    /// Whether the pattern goes on after an interruption.
    public var isResumable: Bool?
    /// Whether to stop every pattern instead.
    public var haltsAll: Bool?
    /// Not set by the SDKs.
    public var numberOfCycles: UInt32?

    /// Asks for nothing.
    public init() {}

    /// The fields that the iOS SDK writes for a pattern: all that it knows, even where they are false or 0.
    ///
    /// It always asks for full intensity.
    public init(_ pattern: LEDPattern) {
        patternType = pattern.kind.rawValue
        frames = pattern.frames.map(LEDPatternFrame.init)
        durationMilliseconds = pattern.durationMilliseconds
        intensityLevel = 100
        playType = pattern.playType.rawValue
        isResumable = pattern.isResumable
        haltsAll = pattern.haltsAll
    }

    /// The pattern that is asked for; absent fields count as 0 or false.
    ///
    /// It is nil if the kind of pattern or of play has no name, or a part of a colour is above 255.
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
}

extension LEDPatternRequest: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&patternUID)
        case 2: field.read(&patternType)
        case 3: try field.read(&frames)
        case 4: field.read(&pauseBetweenCyclesMilliseconds)
        case 5: field.read(&durationMilliseconds)
        case 6: field.read(&intensityLevel)
        case 7: field.read(&priorityLevel)
        case 8: field.read(&playType)
        case 9: field.read(&isResumable)
        case 10: field.read(&haltsAll)
        case 11: field.read(&numberOfCycles)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(patternUID, field: 1)
        writer.write(patternType, field: 2)
        for frame in frames { writer.write(frame, field: 3) }
        writer.write(pauseBetweenCyclesMilliseconds, field: 4)
        writer.write(durationMilliseconds, field: 5)
        writer.write(intensityLevel, field: 6)
        writer.write(priorityLevel, field: 7)
        writer.write(playType, field: 8)
        writer.write(isResumable, field: 9)
        writer.write(haltsAll, field: 10)
        writer.write(numberOfCycles, field: 11)
    }
}
