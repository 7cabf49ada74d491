import Bridge
import CommandLine
import Configuration
import Text

/// The commands that let a tag do something that is seen or felt.
extension Commands {
    /// `led`.
    static let led = Command<Invocation>(
        name: "led",
        summary: "light the LED of a tag or its gear",
        details: [
            "Makes the tag play a light and waits for its answer. A light without",
            "a duration lasts as long as the configuration says (defaults.led_on_s).",
        ],
        options: [config, .json, pattern, ledDuration, component],
        operands: ["ID", "COLOR"],
        values: idValue + [
            "COLOR is a name (" + colors.prefix(6).joined(separator: ", ") + ",",
            colors.dropFirst(6).joined(separator: ", ") + "), #rrggbb, or one of these words: flash is",
            "a second of white, on the last light again, off no light.",
        ],
        json: resultJSON,
        examples: [
            "led 003R flash", "led 003R orange --pattern breathing --duration 5", "led 003R off --component gear",
        ]
    ) { arguments throws(CommandLineError) in
        let wish = LEDWish(
            light: try arguments.operand(1, "COLOR", LEDWish.Light.rule),
            pattern: try arguments.value(of: pattern, .choice(of: patterns)),
            duration: try arguments.value(of: ledDuration, .seconds(milliseconds: 1...86_400_000)),
            component: try arguments.value(of: component, .choice))
        return .ask(.led(id: try arguments.operand(0, "ID", .topicLevel), wish), ClientOptions(arguments))
    }

    /// `haptic`.
    static let haptic = Command<Invocation>(
        name: "haptic",
        summary: "let the gear of a tag vibrate",
        details: ["Makes the tag play a pattern on its gear and waits for its answer."],
        options: [config, .json],
        operands: ["ID", "NAME"],
        values: idValue + ["NAME is one of " + haptics.prefix(6).joined(separator: ", ") + ","]
            + [haptics.dropFirst(6).joined(separator: ", ") + "."],
        json: resultJSON,
        examples: ["haptic 003R short"]
    ) { arguments throws(CommandLineError) in
        let name = try arguments.operand(1, "NAME", .choice(of: haptics))
        return .ask(.haptic(id: try arguments.operand(0, "ID", .topicLevel), name: name), ClientOptions(arguments))
    }

    private static let colors = LEDColorName.all.map(\.name)
    /// The words of `pattern` in `led/set` that need nothing else. Source: the MQTT topics article.
    private static let patterns = ["solid", "breathing", "pulsing", "single_blink", "double_blink", "triple_blink"]
    /// The words of `pattern` in `haptic/set`. Source: the MQTT topics article.
    private static let haptics = [
        "short", "long", "stop", "constant_on", "sine_increase", "sine_decrease", "linear_increase",
        "linear_decrease", "parabolic_increase", "parabolic_decrease",
    ]

    private static let pattern = OptionDescription(
        name: "--pattern", value: "NAME",
        details: [
            patterns.prefix(4).joined(separator: ", ") + ",", patterns.dropFirst(4).joined(separator: " or ") + ".",
        ])
    private static let ledDuration = OptionDescription(
        name: "--duration", value: "SECONDS", details: ["How long the light lasts, with up to three decimals."])
    private static let component = OptionDescription(
        name: "--component", value: "NAME", details: ["Whose LED: tag or gear. Default: tag."])
}
