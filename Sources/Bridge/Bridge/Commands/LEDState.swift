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
    /// The state of a tag that blinks by a feature.
    static let blinking = LightState(color: .white, brightness: 255, effect: .custom)
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
    /// Whether the tag blinks by a feature.
    private(set) var isBlinking = false
    /// When the LED turns off without a command.
    private(set) var offAt: Instant?

    /// Whether the LED is on.
    var isOn: Bool { running != nil || isBlinking }

    /// The published state: while the tag blinks, that of the blinking.
    var shown: LightState { isBlinking ? .blinking : light }

    /// Handles a pattern that the tag plays. Repeating a pattern of the type "toggle" stops it.
    mutating func plays(_ pattern: LEDPattern, _ light: LightState, at now: Instant) {
        self.light = light
        guard pattern.playType == .play || running != pattern else { return turnOff() }
        isBlinking = false
        running = pattern
        offAt = now + .milliseconds(pattern.durationMilliseconds)
    }

    /// The longest pattern: 24 hours.
    static let longestMilliseconds: UInt32 = 86_400_000
    /// How long a feature lets the tag blink with one command.
    static let longestBlinking = Duration.seconds(10)

    /// Handles a tag that blinks by a feature, until ``blinkingEnds(at:)``. What the LED has played before is remembered.
    mutating func blinks() {
        turnOff()
        isBlinking = true
    }

    /// Handles the end of the blinking without a command to the tag, which goes on until then.
    mutating func blinkingEnds(at end: Instant) {
        if isBlinking { offAt = end }
    }

    /// What plays on when the bridge stops; nil if the LED is off, or blinks by a feature, which ends by itself.
    func record(at now: Timestamp) -> TagRecord.Light? {
        guard running != nil, let offAt, offAt > now.instant else { return nil }
        return TagRecord.Light(
            red: light.color.red, green: light.color.green, blue: light.color.blue, brightness: light.brightness,
            effect: light.effect.word, endUnixMilliseconds: (now + (offAt - now.instant)).unixMilliseconds)
    }

    /// Handles a pattern that plays on from the time before the start. Of one with frames, these are not known.
    mutating func resumes(_ record: TagRecord.Light, at now: Timestamp) {
        let rest = min(record.endUnixMilliseconds - now.unixMilliseconds, Int64(Self.longestMilliseconds))
        guard rest > 0 else { return }
        let color = LEDPattern.Color(red: record.red, green: record.green, blue: record.blue)
        let known = LEDEffect.effects + LEDEffect.patterns
        let effect = known.first { $0.word == record.effect } ?? .solid
        let state = LightState(color: color, brightness: record.brightness, effect: effect)
        let pattern = LEDPattern.predefined(
            effect.kind, color: color.scaled(by: record.brightness), durationMilliseconds: UInt32(rest))
        plays(pattern, state, at: now.instant)
        expected = state
    }

    /// Returns whether a pattern stops the one that is playing.
    func isStopped(by pattern: LEDPattern) -> Bool { pattern.playType == .toggle && running == pattern }

    /// Handles a pending command that sets this state.
    mutating func expect(_ light: LightState) {
        expected = light
    }

    /// Handles the LED turning off.
    mutating func turnOff() {
        running = nil
        isBlinking = false
        offAt = nil
    }

    /// Discards the expected state after a failed command.
    mutating func commandFailed() {
        expected = light
    }
}

/// `T/led`: the state of a light in Home Assistant's JSON schema. The colour is not scaled by the brightness.
struct LightDocument: JSONRecord {
    let led: LEDState

    func addMembers(to object: inout JSONWriter) {
        object.add("brightness", led.shown.brightness)
        object.add("color") { color in
            color.add("b", led.shown.color.blue)
            color.add("g", led.shown.color.green)
            color.add("r", led.shown.color.red)
        }
        object.add("color_mode", "rgb")
        object.add("effect", led.shown.effect.word)
        object.add("state", led.isOn ? "ON" : "OFF")
    }
}
