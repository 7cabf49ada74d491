import JacquardProtocol
import Time

/// How a light looks, in the words of whoever asked for it.
struct LEDLook: Hashable, Sendable {
    /// Full colour, not scaled.
    var color: LEDPattern.Color
    /// 1 to 255; scales the colour.
    var brightness: UInt8
    /// The pattern.
    var effect: LEDEffect

    /// What a light looks like that was never told anything.
    static let initial = LEDLook(color: .white, brightness: 255, effect: .solid)
}

/// A pattern by the word with which it was asked for, so that the answer comes back in the asker's words.
struct LEDEffect: Hashable, Sendable {
    let word: String
    let kind: LEDPattern.Kind

    static let solid = LEDEffect(word: "solid", kind: .solid)
    static let custom = LEDEffect(word: "custom", kind: .custom)

    /// The words for `pattern`: the SDK's names.
    static let patterns = [
        solid,
        LEDEffect(word: "breathing", kind: .breathing),
        LEDEffect(word: "pulsing", kind: .pulsing),
        LEDEffect(word: "single_blink", kind: .singleBlink),
        LEDEffect(word: "double_blink", kind: .doubleBlink),
        LEDEffect(word: "triple_blink", kind: .tripleBlink),
        custom,
    ]

    /// The words for `effect`: what Home Assistant shows in its list.
    static let effects = [
        solid,
        LEDEffect(word: "breathe", kind: .breathing),
        LEDEffect(word: "pulse", kind: .pulsing),
        LEDEffect(word: "blink", kind: .singleBlink),
        LEDEffect(word: "double_blink", kind: .doubleBlink),
        LEDEffect(word: "triple_blink", kind: .tripleBlink),
    ]
}

/// What one LED was last told, and until when that lasts.
struct LEDMirror: Sendable {
    /// What the LED looks like, or looked like when it was last on.
    private(set) var look = LEDLook.initial
    /// What it will look like when every command under way has been carried out; a plain "on" starts from here.
    var orderedLook = LEDLook.initial
    /// What plays now.
    private var running: LEDPattern?
    /// When the LED goes dark by itself.
    private(set) var darkAt: Instant?

    /// Whether it is on.
    var isOn: Bool { running != nil }

    /// The tag plays a pattern; the same one told to toggle stops.
    mutating func plays(_ pattern: LEDPattern, look: LEDLook, at now: Instant) {
        self.look = look
        guard pattern.playType == .play || running != pattern else { return goDark() }
        running = pattern
        darkAt = now + .milliseconds(pattern.durationMilliseconds)
    }

    /// The LED is off.
    mutating func goDark() {
        running = nil
        darkAt = nil
    }

    /// A command was not carried out: what was meant to be is not.
    mutating func forgetOrder() {
        orderedLook = look
    }
}
