import JSON
import JacquardProtocol
import Time

/// A named signal of a tag: a pattern of its LED and of the motor of its gear.
public struct Signal: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// A colour as in `led/set`; nil: the LED stays as it is.
    public var color: String?
    /// A pattern as in `led/set`.
    public var pattern: String
    /// How long the LED plays it.
    public var duration: Duration
    /// A pattern as in `haptic/set`; nil: the gear does not vibrate.
    public var haptic: String?
    /// How often it is played.
    public var plays: Int

    /// Describes a signal.
    public init(
        name: String, color: String? = nil, pattern: String = "solid", duration: Duration = .milliseconds(1_000),
        haptic: String? = nil, plays: Int = 1
    ) {
        self.name = name
        self.color = color
        self.pattern = pattern
        self.duration = duration
        self.haptic = haptic
        self.plays = plays
    }

    /// The patterns of the LED. Custom needs frames, which a signal does not have.
    public static let patterns = LEDEffect.patterns.filter { $0.kind != .custom }.map(\.word)

    /// The signals that exist without configuration.
    public static let builtIn = [
        Signal(
            name: "default", color: "white", pattern: "double_blink", duration: .milliseconds(2_000), haptic: "short"),
        Signal(
            name: "doorbell", color: "orange", pattern: "double_blink", duration: .milliseconds(2_000), haptic: "long",
            plays: 2),
        Signal(name: "success", color: "green", haptic: "short"),
        Signal(name: "failure", color: "red", haptic: "long"),
        Signal(
            name: "warning", color: "yellow", pattern: "triple_blink", duration: .milliseconds(2_000), haptic: "short",
            plays: 2),
        Signal(
            name: "alarm", color: "red", pattern: "single_blink", duration: .milliseconds(2_000), haptic: "long",
            plays: 5),
    ]

    /// The built-in signals, replaced by configured ones of the same name, and the other configured ones.
    static func all(_ configured: [Signal]) -> [Signal] {
        guard !configured.isEmpty else { return builtIn }
        let names = Set(configured.map(\.name))
        return builtIn.filter { !names.contains($0.name) } + configured
    }
}

extension [Signal] {
    /// The names of the built-in signals and of these, which are configured.
    var namesWithBuiltIn: [String] { Signal.all(self).map(\.name) }
}

/// `notify/set`: plays a signal. `message` is its name, as the notify entity of Home Assistant sends it.
struct NotifySet: TagRequest {
    static let name = "notify/set"
    static var needsPayload: Bool { true }
    static var access: CommandAccess { .automation }
    static var isResultRecorded: Bool { true }
    static let keys = ["signal", "message"]

    private let light: (state: LightState, pattern: LEDPattern)?
    private let haptic: HapticPattern?

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        let signal = try Self.signal(payload, of: Signal.all(context.options.signals))
        if let color = signal.color {
            let arguments = LEDArgumentsOfSignal(signal, color)
            let led = try LEDArguments(arguments.arguments, in: context)
            guard case .on(let state, let pattern) = led.intent else {
                throw CommandFailure(.invalidArgument, "The signal \(signal.name.quoted) switches the LED off")
            }
            light = (state, pattern)
        } else {
            light = nil
        }
        haptic = try signal.haptic.map { word throws(CommandFailure) in
            let keys: [String: JSONValue] = ["pattern": .string(word)]
            var pattern = try HapticSet(.object(CommandArguments(keys)), in: context).pattern
            pattern.offMilliseconds = signal.plays > 1 ? 300 : pattern.offMilliseconds
            pattern.repeatNMinusOne = UInt8(clamping: signal.plays - 1)
            return pattern
        }
    }

    /// The keys of a light that plays a signal.
    private struct LEDArgumentsOfSignal {
        let arguments: CommandArguments

        init(_ signal: Signal, _ color: String) {
            arguments = CommandArguments([
                "color": .string(color), "pattern": .string(signal.pattern),
                "duration_ms": .integer(signal.duration.milliseconds * Int64(signal.plays)),
            ])
        }
    }

    private static func signal(
        _ payload: CommandPayload, of signals: [Signal]
    ) throws(CommandFailure) -> Signal {
        let words = signals.map { Word($0.name, $0) }
        if let signal = try payload.word("signal", of: words) { return signal }
        if let signal = try payload.word("message", of: words) { return signal }
        return try CommandArguments.required(nil, "signal", mayBe: words.listed())
    }

    var command: TagCommand? {
        light.map { .playLEDPattern($0.pattern, on: .tag) } ?? haptic.map { .playHaptic($0) }
    }

    func accepted(by tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects) {
        if let light { tag.lights[.tag].expect(light.state) }
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        guard let light else { return TagRequestOutcome() }
        tag.lights[.tag].plays(light.pattern, light.state, at: now.instant)
        tag.lightConfirmed()
        let canVibrate = tag.gear.latest?.value?.capabilities.contains(.haptic) ?? false
        let commands: [TagCommand] = canVibrate ? haptic.map { [.playHaptic($0)] } ?? [] : []
        effects.publish(tag.ledFact)
        return TagRequestOutcome(commands: commands)
    }

    func failed(on tag: inout TagMirror, _ failure: CommandFailure?, at now: Timestamp) {
        guard let light else { return }
        tag.lights[.tag].commandFailed()
        guard failure?.leavesEffectUnknown == true else { return }
        // Late, a signal says nothing: the LED is switched off.
        tag.lightUnknown((light.state, light.pattern), at: now)
        tag.lightUnknown(nil, at: now)
    }
}
