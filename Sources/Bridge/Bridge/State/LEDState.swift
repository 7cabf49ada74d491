import JSON
import JacquardProtocol
import Time

/// The state of a light, with the effect name that the sender used.
struct LightState: Hashable, Sendable {
    /// The colour before scaling.
    var color: LEDPattern.Color
    /// 1 to 255; scales the colour.
    var brightness: UInt8
    /// The effect.
    var effect: LEDEffect

    /// The state before the first command.
    static let initial = LightState(color: .white, brightness: 255, effect: .solid)
}

/// A pattern with the name that the sender used, so that the published state has the same name.
struct LEDEffect: Hashable, Sendable {
    let word: String
    let kind: LEDPattern.Kind

    static let solid = LEDEffect(word: "solid", kind: .solid)
    static let custom = LEDEffect(word: "custom", kind: .custom)

    /// The names of `pattern`, from the SDK.
    static let patterns = [
        solid,
        LEDEffect(word: "breathing", kind: .breathing),
        LEDEffect(word: "pulsing", kind: .pulsing),
        LEDEffect(word: "single_blink", kind: .singleBlink),
        LEDEffect(word: "double_blink", kind: .doubleBlink),
        LEDEffect(word: "triple_blink", kind: .tripleBlink),
        custom,
    ]

    /// The names of `effect`, as Home Assistant lists them.
    static let effects = [
        solid,
        LEDEffect(word: "breathe", kind: .breathing),
        LEDEffect(word: "pulse", kind: .pulsing),
        LEDEffect(word: "blink", kind: .singleBlink),
        LEDEffect(word: "double_blink", kind: .doubleBlink),
        LEDEffect(word: "triple_blink", kind: .tripleBlink),
    ]
}

/// The last commanded state of one LED, and when it ends.
struct LEDState: Sendable {
    /// The current state, or the one when the LED was last on.
    private(set) var light = LightState.initial
    /// The state after all pending commands have succeeded; an "on" without other keys starts from here.
    private(set) var expected = LightState.initial
    /// The pattern that is playing.
    private var running: LEDPattern?
    /// When the LED turns off without a command.
    private(set) var offAt: Instant?

    /// Whether the LED is on.
    var isOn: Bool { running != nil }

    /// Handles a pattern that the tag plays. Repeating a pattern of the type "toggle" stops it.
    mutating func plays(_ pattern: LEDPattern, _ light: LightState, at now: Instant) {
        self.light = light
        guard pattern.playType == .play || running != pattern else { return turnOff() }
        running = pattern
        offAt = now + .milliseconds(pattern.durationMilliseconds)
    }

    /// Handles a pending command that sets this state.
    mutating func expect(_ light: LightState) {
        expected = light
    }

    /// Handles the LED turning off.
    mutating func turnOff() {
        running = nil
        offAt = nil
    }

    /// Discards the expected state after a failed command.
    mutating func commandFailed() {
        expected = light
    }
}

/// `T/led`: the state of a light in Home Assistant's JSON schema.
struct LightDocument {
    private let led: LEDState

    init(_ led: LEDState) {
        self.led = led
    }

    /// The payload. The colour is not scaled by the brightness.
    var bytes: [UInt8] {
        var object = JSONObjectWriter(capacity: 128)
        object.add("brightness", Int64(led.light.brightness))
        object.add("color") { color in
            color.add("b", Int64(led.light.color.blue))
            color.add("g", Int64(led.light.color.green))
            color.add("r", Int64(led.light.color.red))
        }
        object.add("color_mode", "rgb")
        object.add("effect", led.light.effect.word)
        object.add("state", led.isOn ? "ON" : "OFF")
        return object.finished()
    }
}
