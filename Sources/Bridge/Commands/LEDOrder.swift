import JacquardProtocol

/// The requested state of an LED.
///
/// With `"state":"ON"`, Home Assistant's form, missing keys keep their previous values. Without `state`, the defaults
/// are white, full brightness and solid. `transition` is ignored because the tag does not support it.
struct LEDOrder: Sendable {
    /// Off, or on with a light state and a pattern.
    enum Intent: Sendable {
        case dark
        case light(LightState, LEDPattern)
    }

    let target: TagCommand.Target
    let intent: Intent

    /// 1 ms to 24 hours.
    static let duration: ClosedRange<UInt32> = 1...86_400_000
    /// Fifty frames of 18 bytes fit into a packet of 1,024 bytes together with the rest of the request.
    static let frames = 1...50

    /// The keys of which a command needs at least one, unless it halts all patterns.
    private static let keys = ["state", "color", "brightness", "effect", "flash", "pattern", "duration_ms", "frames"]

    init(
        _ arguments: CommandArguments, for tag: TagMirror, defaults: BridgeConfiguration
    ) throws(CommandFailure) {
        let haltsAll = try arguments.flag("halt_all") ?? false
        guard haltsAll || arguments.containsAny(of: Self.keys) else {
            let keys = Self.keys.joined(separator: ", ")
            throw CommandFailure(.invalidArgument, "There is nothing to do; the keys are \(keys), halt_all")
        }
        target = try arguments.word("component", of: [Word("tag", .tag), Word("gear", .gear)]) ?? .tag
        let isOn = try arguments.word(
            "state", of: [Word("ON", true), Word("OFF", false)], synonyms: [Word("on", true), Word("off", false)])
        guard !haltsAll, isOn != false else {
            intent = .dark
            return
        }
        let light = try LightArguments(arguments)
        intent = light.intent(remembered: isOn == true ? tag[target].expectedState : .initial, ledOn: defaults.ledOn)
    }
}
