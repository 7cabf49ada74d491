import JSON
import JacquardProtocol
import Time

/// The validated keys of a light command.
struct LightArguments: Sendable {
    private let color: LEDPattern.Color?
    private let brightness: UInt8?
    private let effect: LEDEffect?
    private let frames: [LEDPattern.Frame]?
    private let flashMilliseconds: UInt32?
    private let durationMilliseconds: UInt32?
    private let playType: LEDPattern.PlayType
    private let isResumable: Bool

    private static let playTypes = [Word("play", LEDPattern.PlayType.play), Word("toggle", .toggle)]

    init(_ arguments: CommandArguments) throws(CommandFailure) {
        color = try arguments.color("color")
        brightness = try arguments.integer("brightness", 0...UInt8.max)
        let effect = try arguments.effect("effect", listed: LEDEffect.effects, understood: LEDEffect.patterns)
        let pattern = try arguments.effect("pattern", listed: LEDEffect.patterns, understood: LEDEffect.effects)
        frames = try arguments.frames(pattern: pattern ?? effect, of: pattern == nil ? "effect" : "pattern")
        self.effect = pattern ?? effect
        flashMilliseconds = try arguments.seconds("flash", LEDArguments.duration)
        durationMilliseconds = try arguments.integer("duration_ms", LEDArguments.duration)
        playType = try arguments.word("play", of: Self.playTypes) ?? .play
        isResumable = try arguments.flag("resumable") ?? false
    }

    /// Returns the requested light state; missing keys take the remembered values.
    ///
    /// A flash does not use remembered values: its defaults are white and solid.
    func intent(remembered: LightState, ledOn: Duration) -> LEDArguments.Intent {
        guard brightness != 0 else { return .off }
        var light = flashMilliseconds == nil ? remembered : .initial
        light.color = frames?.first?.color ?? color ?? light.color
        light.brightness = brightness ?? light.brightness
        light.effect = frames != nil ? .custom : effect ?? light.effect.repeatable
        return .on(light, pattern(light, ledOn: ledOn))
    }

    private func pattern(_ light: LightState, ledOn: Duration) -> LEDPattern {
        let total = durationMilliseconds ?? flashMilliseconds ?? framesMilliseconds ?? UInt32(clamping: ledOn)
        guard let frames else {
            return .predefined(
                light.effect.kind, color: light.color.scaled(by: light.brightness), durationMilliseconds: total,
                playType: playType, isResumable: isResumable)
        }
        let scaled = frames.map { frame in
            LEDPattern.Frame(
                color: frame.color.scaled(by: light.brightness), lengthMilliseconds: frame.lengthMilliseconds)
        }
        return LEDPattern(
            kind: .custom, frames: scaled, durationMilliseconds: total, playType: playType, isResumable: isResumable)
    }

    /// Duration of one pass through all frames.
    private var framesMilliseconds: UInt32? {
        guard let frames else { return nil }
        let sum = frames.reduce(0) { $0 + UInt64($1.lengthMilliseconds) }
        return min(LEDArguments.duration.upperBound, UInt32(clamping: sum))
    }
}

extension CommandArguments {
    /// Reads a pattern from one of two vocabularies; an error text lists the words of the key in use.
    fileprivate func effect(
        _ key: String, listed: [LEDEffect], understood: [LEDEffect]
    ) throws(CommandFailure) -> LEDEffect? {
        guard let value = self[key] else { return nil }
        if case .string(let text) = value {
            for effect in listed where effect.word == text { return effect }
            for effect in understood where effect.word == text { return effect }
        }
        throw .invalid(key, is: value, mayBe: listed.map(\.word).joined(separator: ", "))
    }

    /// Reads the frames, which are required for a custom pattern and not allowed for others. An error names the key of the
    /// pattern.
    fileprivate func frames(pattern: LEDEffect?, of key: String) throws(CommandFailure) -> [LEDPattern.Frame]? {
        guard let list = try list("frames", LEDArguments.frames) else {
            guard pattern?.kind != .custom else {
                throw CommandFailure(.invalidArgument, #"\#(key.quoted) is "custom", which needs "frames""#)
            }
            return nil
        }
        if let pattern, pattern.kind != .custom {
            throw .invalid(key, is: .string(pattern.word), mayBe: #"custom where there are "frames""#)
        }
        var frames: [LEDPattern.Frame] = []
        for arguments in list {
            frames.append(try arguments.frame())
        }
        return frames
    }

    private func frame() throws(CommandFailure) -> LEDPattern.Frame {
        let color = try CommandArguments.required(color("color"), "color", mayBe: ##"such as "#ff8000""##)
        let length = try CommandArguments.required(
            integer("duration_ms", LEDArguments.duration), "duration_ms", mayBe: "a number of milliseconds")
        return LEDPattern.Frame(color: color, lengthMilliseconds: length)
    }
}

extension LEDPattern.Frame {
    /// The keys of a frame.
    static let keys = ["color", "duration_ms"]
}

extension LEDEffect {
    /// The effect to remember. Frames are not stored, so a custom pattern becomes solid.
    fileprivate var repeatable: LEDEffect { kind == .custom ? .solid : self }
}

extension UInt32 {
    /// The duration in milliseconds, at least 1.
    fileprivate init(clamping duration: Duration) {
        self = Swift.max(1, UInt32(clamping: duration.milliseconds))
    }
}
