import JSON
import JacquardProtocol
import Time

/// What a command says about a light, each key read and checked.
struct LightArguments: Sendable {
    private let color: LEDPattern.Color?
    private let brightness: UInt8?
    private let effect: LEDEffect?
    private let frames: [LEDPattern.Frame]?
    private let flashMilliseconds: UInt32?
    private let durationMilliseconds: UInt32?
    private let playType: LEDPattern.PlayType
    private let isResumable: Bool

    init(_ arguments: CommandArguments) throws(CommandFailure) {
        color = try arguments.color("color")
        brightness = try arguments.integer("brightness", 0...UInt8.max)
        let effect = try arguments.effect("effect", listed: LEDEffect.effects, understood: LEDEffect.patterns)
        let pattern = try arguments.effect("pattern", listed: LEDEffect.patterns, understood: LEDEffect.effects)
        frames = try arguments.frames(pattern: pattern ?? effect)
        self.effect = pattern ?? effect
        flashMilliseconds = try arguments.seconds("flash", LEDOrder.duration)
        durationMilliseconds = try arguments.integer("duration_ms", LEDOrder.duration)
        playType = try arguments.word("play", of: [Word("play", .play), Word("toggle", .toggle)]) ?? .play
        isResumable = try arguments.flag("resumable") ?? false
    }

    /// The light they describe, where what is not said comes from what is remembered.
    ///
    /// A flash is a signal of its own: white and solid unless it says otherwise.
    func wish(remembered: LEDLook, ledOn: Duration) -> LEDOrder.Wish {
        guard brightness != 0 else { return .dark }
        var look = flashMilliseconds == nil ? remembered : .initial
        look.color = frames?.first?.color ?? color ?? look.color
        look.brightness = brightness ?? look.brightness
        look.effect = frames != nil ? .custom : effect ?? look.effect.repeatable
        return .light(look, pattern(look, ledOn: ledOn))
    }

    private func pattern(_ look: LEDLook, ledOn: Duration) -> LEDPattern {
        let total = durationMilliseconds ?? flashMilliseconds ?? framesMilliseconds ?? UInt32(clamping: ledOn)
        guard let frames else {
            return .predefined(
                look.effect.kind, color: look.color.scaled(by: look.brightness), durationMilliseconds: total,
                playType: playType, isResumable: isResumable)
        }
        let scaled = frames.map { frame in
            LEDPattern.Frame(
                color: frame.color.scaled(by: look.brightness), lengthMilliseconds: frame.lengthMilliseconds)
        }
        return LEDPattern(
            kind: .custom, frames: scaled, durationMilliseconds: total, playType: playType, isResumable: isResumable)
    }

    /// All frames once.
    private var framesMilliseconds: UInt32? {
        guard let frames else { return nil }
        let sum = frames.reduce(0) { $0 + UInt64($1.lengthMilliseconds) }
        return min(LEDOrder.duration.upperBound, UInt32(clamping: sum))
    }
}

extension CommandArguments {
    /// A pattern by one of two vocabularies; an error text lists the one that belongs to the key.
    fileprivate func effect(
        _ key: String, listed: [LEDEffect], understood: [LEDEffect]
    ) throws(CommandFailure) -> LEDEffect? {
        try word(key, of: listed.map { Word($0.word, $0) }, synonyms: understood.map { Word($0.word, $0) })
    }

    /// The frames, which have to be there for a custom pattern and for no other.
    fileprivate func frames(pattern: LEDEffect?) throws(CommandFailure) -> [LEDPattern.Frame]? {
        guard let list = try list("frames", LEDOrder.frames) else {
            guard pattern?.kind != .custom else {
                throw CommandFailure(.invalidArgument, #""pattern" is "custom", which needs "frames""#)
            }
            return nil
        }
        if let pattern, pattern.kind != .custom {
            throw .invalid("pattern", is: .string(pattern.word), mayBe: #"custom where there are "frames""#)
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
            integer("duration_ms", LEDOrder.duration), "duration_ms", mayBe: "a number of milliseconds")
        return LEDPattern.Frame(color: color, lengthMilliseconds: length)
    }
}

extension LEDEffect {
    /// Frames are not remembered: what was custom is solid when it comes again.
    fileprivate var repeatable: LEDEffect { kind == .custom ? .solid : self }
}

extension UInt32 {
    /// The milliseconds of a duration, at least one.
    fileprivate init(clamping duration: Duration) {
        self = Swift.max(1, UInt32(clamping: duration.milliseconds))
    }
}
