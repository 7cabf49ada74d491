/// A pattern of an LED.
///
/// Source: `LedPatternRequest` (extension 118); JacquardSDKiOS, `PlayLEDPatternCommand`.
public struct LEDPattern: Hashable, Sendable {
    /// A colour; each part is 0 to 255.
    public struct Color: Hashable, Sendable {
        /// Red.
        public let red: UInt8
        /// Green.
        public let green: UInt8
        /// Blue.
        public let blue: UInt8

        /// Puts the parts together.
        public init(red: UInt8, green: UInt8, blue: UInt8) {
            self.red = red
            self.green = green
            self.blue = blue
        }

        /// No light.
        public static let black = Color(red: 0, green: 0, blue: 0)
        /// Full light.
        public static let white = Color(red: 255, green: 255, blue: 255)
    }

    /// One colour for some time.
    public struct Frame: Hashable, Sendable {
        /// The colour.
        public let color: Color
        /// Milliseconds.
        public let lengthMilliseconds: UInt32

        /// Puts both together.
        public init(color: Color, lengthMilliseconds: UInt32) {
            self.color = color
            self.lengthMilliseconds = lengthMilliseconds
        }
    }

    /// The predefined patterns, and the one made of frames. The numbers are those of `PatternType` on the wire.
    ///
    /// The iOS SDK sends 1 for a double blink, by mistake; 5 is right.
    public enum Kind: UInt32, Hashable, Sendable, CaseIterable {
        /// Steady light.
        case solid = 1
        /// Slow rise and fall.
        case breathing = 2
        /// Quick rise and fall.
        case pulsing = 3
        /// One blink.
        case singleBlink = 4
        /// Two blinks.
        case doubleBlink = 5
        /// Three blinks.
        case tripleBlink = 6
        /// The frames as they are.
        case custom = 7
    }

    /// The tag's reaction to the same pattern, sent again.
    public enum PlayType: UInt32, Hashable, Sendable {
        /// Starts it.
        case play = 0
        /// Starts it, or stops the one that is running.
        case toggle = 1
    }

    /// Which pattern.
    public var kind: Kind
    /// At least one; repeated by the tag until the duration has passed.
    public var frames: [Frame]
    /// How long it plays, in milliseconds.
    public var durationMilliseconds: UInt32
    /// Start, or start and stop in turn.
    public var playType: PlayType
    /// Whether it goes on after another pattern has interrupted it.
    public var isResumable: Bool
    /// Whether to stop every pattern that is playing instead.
    public var haltsAll: Bool

    /// A pattern of frames.
    public init(
        kind: Kind,
        frames: [Frame],
        durationMilliseconds: UInt32,
        playType: PlayType = .play,
        isResumable: Bool = false,
        haltsAll: Bool = false
    ) {
        self.kind = kind
        self.frames = frames
        self.durationMilliseconds = durationMilliseconds
        self.playType = playType
        self.isResumable = isResumable
        self.haltsAll = haltsAll
    }

    /// A predefined pattern in one colour: one frame as long as the whole.
    public static func predefined(
        _ kind: Kind,
        color: Color,
        durationMilliseconds: UInt32,
        playType: PlayType = .play,
        isResumable: Bool = false
    ) -> LEDPattern {
        LEDPattern(
            kind: kind,
            frames: [Frame(color: color, lengthMilliseconds: durationMilliseconds)],
            durationMilliseconds: durationMilliseconds,
            playType: playType,
            isResumable: isResumable)
    }

    /// Stops every pattern: one black frame of length 0, as the SDK sends it.
    public static let haltAll = LEDPattern(
        kind: .solid,
        frames: [Frame(color: .black, lengthMilliseconds: 0)],
        durationMilliseconds: 0,
        haltsAll: true)
}
