import JSON
import JacquardProtocol

/// `led/set`: plays a pattern on the LED of the tag or its gear. ``LEDArguments`` describes the arguments.
struct LEDSet: TagRequest {
    static let name = "led/set"
    static var needsPayload: Bool { true }
    static var access: CommandAccess { .automation }
    static var isResultRecorded: Bool { true }
    static let keys = LEDArguments.allKeys

    private let arguments: LEDArguments

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        arguments = try LEDArguments(CommandArguments(payload, text: Self.object), in: context)
    }

    /// Returns the object that a bare word is short for.
    private static func object(for text: String) throws(CommandFailure) -> [String: JSONValue] {
        let word = try CommandPayload.singleWord(text)
        switch word.lowercased() {
        case "on": return ["state": "ON"].mapValues(JSONValue.string)
        case "off": return ["state": "OFF"].mapValues(JSONValue.string)
        case "flash": return ["flash": .integer(1)]
        case let color where LEDPattern.Color(.string(color)) != nil: return ["color": .string(color)]
        default:
            throw .invalid(
                "payload", is: .string(word),
                mayBe: "on, off, flash, a colour such as red or #ff8000, or a JSON object")
        }
    }

    var command: TagCommand? {
        switch arguments.intent {
        case .off: .playLEDPattern(.haltAll, on: arguments.target)
        case .on(_, let pattern): .playLEDPattern(pattern, on: arguments.target)
        }
    }

    func accepted(by tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects) {
        if case .on(let light, _) = arguments.intent { tag.lights[arguments.target].expect(light) }
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        if arguments.target == .tag { tag.lightConfirmed() }
        tag.lightChanged(of: arguments.target, &effects) { led in
            switch arguments.intent {
            case .off: led.turnOff()
            case .on(let light, let pattern): led.plays(pattern, light, at: now.instant)
            }
        }
        return TagRequestOutcome()
    }

    func failed(on tag: inout TagMirror, _ failure: CommandFailure?, at now: Timestamp) {
        tag.lights[arguments.target].commandFailed()
        guard failure?.leavesEffectUnknown == true, arguments.target == .tag else { return }
        switch arguments.intent {
        case .on(let light, let pattern) where !tag.lights.tag.isStopped(by: pattern):
            tag.lightUnknown((light, pattern), at: now)
        case .on, .off: tag.lightUnknown(nil, at: now)
        }
    }
}

/// The requested state of an LED.
///
/// With `"state":"ON"`, Home Assistant's form, missing keys keep their previous values. Without `state`, the defaults
/// are white, full brightness and solid. `transition` is ignored because the tag does not support it.
struct LEDArguments: Sendable {
    /// Off, or on with a state and a pattern.
    enum Intent: Sendable {
        case off
        case on(LightState, LEDPattern)
    }

    let target: TagCommand.Target
    let intent: Intent

    /// 1 ms to 24 hours.
    static let duration: ClosedRange<UInt32> = 1...LEDState.longestMilliseconds
    /// Fifty frames of 18 bytes fit into a packet of 1,024 bytes together with the rest of the request.
    static let frames = 1...50

    /// The keys of which a command needs at least one, unless it halts all patterns.
    private static let keys = ["state", "color", "brightness", "effect", "flash", "pattern", "duration_ms", "frames"]
    /// All keys. `transition` is one of Home Assistant's.
    static let allKeys = keys + ["halt_all", "component", "play", "resumable", "transition"]
    private static let targets = [Word("tag", TagCommand.Target.tag), Word("gear", .gear)]
    private static let states = [Word("ON", true), Word("OFF", false)]
    private static let stateSynonyms = [Word("on", true), Word("off", false)]

    init(_ arguments: CommandArguments, in context: TagRequestContext) throws(CommandFailure) {
        let haltsAll = try arguments.flag("halt_all") ?? false
        guard haltsAll || arguments.containsAny(of: Self.keys) else {
            let keys = Self.keys.joined(separator: ", ")
            throw CommandFailure(.invalidArgument, "The command contains no action; the keys are \(keys), halt_all")
        }
        target = try arguments.word("component", of: Self.targets) ?? .tag
        let isOn = try arguments.word("state", of: Self.states, synonyms: Self.stateSynonyms)
        // Before the state is used: invalid keys are reported beside OFF, too.
        let light = try LightArguments(arguments)
        guard !haltsAll, isOn != false else {
            intent = .off
            return
        }
        let last = target == .tag ? context.lights.tag : context.lights.gear
        intent = light.intent(remembered: isOn == true ? last : .initial, ledOn: context.options.ledOn)
    }
}
