import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import Terminal
import Text
import Time

/// `led`: lights the LED of a tag or its gear.
struct LEDCommand: ClientCommand {
    /// The light that the operand `COLOR` selects.
    enum Light: Hashable, Sendable {
        case on
        case off
        case flash
        /// `#rrggbb` in lower case.
        case color(String)
    }

    /// The LED. The raw values are the words of command line and payload.
    enum Component: String, CaseIterable, Sendable {
        case tag, gear
    }

    /// The tags.
    let tags: TagOperand
    /// The light.
    let light: Light
    /// The name of a pattern.
    var pattern: String?
    /// How long the light lasts; nil: the bridge's default.
    var duration: Duration?
    /// The LED; nil: the tag's.
    var component: Component?
    /// How long to wait for a tag that is not connected.
    var lifetime: Duration?

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        try await context.perform(TagOrder(tags: tags, command: "led", payload: payload, lifetime: lifetime)) {
            $1.sentence(of: $0, done)
        }
    }

    /// The effect on the LED.
    private var done: String {
        let led = component == .gear ? "LED of the gear" : "LED"
        let time = duration.map { " for \($0.decimalSeconds) s" } ?? ""
        let effect = pattern.map { ", \($0.asWords)" } ?? ""
        return switch light {
        case .on: "\(led) is on\(effect)\(time)"
        case .off: "\(led) is off"
        case .flash: "\(led) flashes\(effect)\(time)"
        case .color(let color):
            "\(led) is \(LEDColorName.all.first { $0.hexadecimal == color }?.name ?? color)\(effect)\(time)"
        }
    }

    /// The payload of `led/set`, without `id`.
    var payload: [String: JSONValue] {
        var payload: [String: JSONValue] =
            switch light {
            case .on: ["state": "ON"]
            case .off: ["state": "OFF"]
            case .flash: ["flash": 1]
            case .color(let text): ["color": .string(text)]
            }
        payload["pattern"] = pattern.map(JSONValue.string)
        payload["duration_ms"] = duration.map { .integer($0.milliseconds) }
        payload["component"] = component.map { .string($0.rawValue) }
        return payload
    }
}

extension LEDCommand {
    static let row = Command<any CommandAction>(
        name: "led",
        summary: "light the LED of tags or their gear",
        details: [
            "Lights the LED and waits for the response of each tag. Without",
            "--duration, the light lasts as long as defaults.led_on_s in the",
            "configuration.",
        ],
        options: [.config, .json, patternOption, durationOption, componentOption, .wait],
        operands: [.required("ID", .tags), .required("COLOR", .words(["flash", "on", "off"] + colors))],
        values: RowText.ids + [
            "COLOR is a name (" + colors.prefix(6).joined(separator: ", ") + ",",
            colors.dropFirst(6).joined(separator: ", ") + "), #rrggbb, flash (white for one second),",
            "on (the last light again) or off.",
        ],
        json: RowText.resultsJSON,
        examples: [
            "led 003R flash", "led 003R orange --pattern breathing --duration 5", "led 003R off --component gear",
            "led 003R,0001 green", "led all off",
        ]
    ) { arguments throws(CommandLineError) in
        let command = LEDCommand(
            tags: try arguments.operand(0, "ID", TagOperand.rule),
            light: try arguments.operand(1, "COLOR", Light.rule),
            pattern: try arguments.value(of: patternOption, .choice(of: patterns)),
            duration: try arguments.value(of: durationOption, .seconds(milliseconds: 1...86_400_000)),
            component: try arguments.value(of: componentOption, .choice), lifetime: try arguments.lifetime())
        for option in [patternOption, durationOption]
        where command.light == .off && arguments.options[option.name] != nil {
            throw CommandLineError(message: "\(option.name) is not for off")
        }
        return try ClientAction(command, arguments)
    }

    private static let colors = LEDColorName.all.map(\.name)
    /// The values of `pattern` in `led/set` that need no other key. Source: the article MQTT topics.
    private static let patterns = ["solid", "breathing", "pulsing", "single_blink", "double_blink", "triple_blink"]

    private static let patternOption = OptionDescription(
        name: "--pattern", value: "NAME", completion: .words(patterns),
        details: [
            patterns.prefix(4).joined(separator: ", ") + ",", patterns.dropFirst(4).joined(separator: " or ") + ".",
        ])
    private static let durationOption = OptionDescription(
        name: "--duration", value: "SECONDS", details: ["The duration of the light, with up to three decimals."])
    private static let componentOption = OptionDescription(
        name: "--component", value: "NAME", completion: .words(Component.allCases.map(\.rawValue)),
        details: ["The LED: tag or gear (default: tag)."])
}

extension LEDCommand.Light {
    /// `on`, `off`, `flash`, a colour's name or `#rrggbb`, in any case.
    static var rule: ScalarRule<Self> {
        ScalarRule(
            allowed: "on, off, flash, " + LEDColorName.all.map(\.name).joined(separator: ", ") + ", #rrggbb"
        ) { text throws(Rejection) in
            switch text.lowercased() {
            case "on": return .on
            case "off": return .off
            case "flash": return .flash
            case let word:
                if let color = LEDColorName.all.first(where: { $0.name == word })?.hexadecimal ?? hexadecimal(word) {
                    return .color(color)
                }
                throw Rejection(
                    "is not a light" + Spelling.hint(for: word, in: ["flash", "off"] + LEDColorName.all.map(\.name)))
            }
        }
    }

    private static func hexadecimal(_ word: String) -> String? {
        let digits = word.utf8.dropFirst()
        let isColor = word.hasPrefix("#") && digits.count == 6 && digits.allSatisfy(ASCII.isHexadecimal)
        return isColor ? word : nil
    }
}
