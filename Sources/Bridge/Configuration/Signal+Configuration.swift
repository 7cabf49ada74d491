import Bridge
import Text

extension Signal {
    /// The row of `signals`.
    static var list: ConfigurationKey<Settings> {
        .list(
            "signals", \.bridge.signals, of: keys, limit: 32, .settings,
            "Signals of the command notify: patterns of the LED and the motor with a name. They replace built-in ones.",
            empty: Signal(name: ""), check: { items, _, findings in usable(items, &findings) }
        ).withoutOption("the supervisor shows two levels of options")
    }

    /// Returns the names of the built-in signals and of those of the configuration.
    static func names(with configured: [Signal]) -> [String] {
        builtInNames + configured.map(\.name).filter { !builtInNames.contains($0) }
    }

    /// The names of the signals that exist without configuration.
    private static let builtInNames = Signal.builtIn.map(\.name)

    /// The rows of an item.
    private static var keys: [ConfigurationKey<Signal>] {
        [
            ConfigurationKey(
                "name", \.name, .signalName, .settings,
                "The name in jacquard/tag/<id>/notify/set, such as \(builtInNames.joined(separator: ", "))."
            ).example("tea").required(nameRule.allowed),
            .section("led", "What the LED of the tag plays. Default: nothing."),
            ConfigurationKey(
                "led.color", \.color, .partOfSignal(as: "led", "color"), .settings,
                "A colour such as red or '#ff8000' (in quotes)."
            ).example("green"),
            ConfigurationKey(
                "led.pattern", \.pattern, .partOfSignal(as: "led", "pattern", words: Signal.patterns), .settings,
                "solid, breathing, pulsing, single_blink, double_blink or triple_blink."),
            ConfigurationKey(
                "led.duration_ms", \.duration, .milliseconds(1...600_000), .settings,
                "How long the LED plays the pattern, in milliseconds."),
            ConfigurationKey(
                "haptic", \.haptic, .partOfSignal(as: "haptic", "pattern"), .settings,
                "What gear with a motor plays, such as short or long. Default: nothing."
            ).example("short"),
            ConfigurationKey("repeat", \.plays, .integer(1...16), .settings, "How often the signal is played."),
        ]
    }

    /// Reports names that are not unique, and signals that do nothing; returns the others.
    private static func usable(
        _ items: [ReadItem<Signal>], _ findings: inout ConfigurationFindings
    ) -> [Signal] {
        var names: [String: String] = [:]
        let usable = items.filter { $0.keys.valid.contains("name") }
        for item in usable {
            if let other = names.updateValue(item.keys.path, forKey: item.value.name),
                let node = item.keys.nodes["name"]
            {
                findings.add(
                    "\(DisplayText.quoted(item.value.name)) is the name of \(other), too",
                    path: DisplayText.path(item.keys.path, "name"), at: node.origin, allowed: "a name for each signal")
            }
            if item.keys.nodes["led.color"] == nil, item.keys.nodes["haptic"] == nil, !hasWrongLED(item) {
                findings.add(
                    "the signal has neither", path: item.keys.path, at: item.keys.origin,
                    allowed: "led with a color, haptic, or both")
            }
        }
        return usable.map(\.value)
    }

    /// Whether `led` has no keys, which is reported.
    private static func hasWrongLED(_ item: ReadItem<Signal>) -> Bool {
        guard let led = item.keys.nodes["led"], !led.isNull else { return false }
        if case .section = led.content { return false }
        return true
    }
}

/// The name of a signal.
private var nameRule: ScalarRule<String> {
    ScalarRule.word(limit: 32, alphabet: "0-9 A-Z a-z _ -", where: ASCII.isOfWord)
}

extension ValueType where Value == String {
    fileprivate static var signalName: ValueType {
        ValueType(["type": "string", "pattern": "^[0-9A-Za-z_-]{1,32}$"], text: { $0 }, in: { _ in nameRule })
    }

    /// A value of a command, which the bridge checks. Errors list the words; without them, they have the bridge's text.
    fileprivate static func partOfSignal(as command: String, _ key: String, words: [String] = []) -> ValueType {
        let schema: SchemaNode = ["type": "string", "minLength": 1, "maxLength": 32]
        return ValueType(schema, text: { $0 }) { context in
            let rule = ScalarRule<String>.text(bytes: 32)
            let allowed = words.isEmpty ? "a \(key) of the command \(command)" : words.joined(separator: ", ")
            return ScalarRule(allowed: allowed) { text throws(Rejection) in
                let text = try rule.parse(text)
                let quoted = text.split(separator: "\"", omittingEmptySubsequences: false).joined()
                if let problem = context.reflexProblem("\(command) {\"\(key)\":\"\(quoted)\"}") {
                    throw Rejection(words.isEmpty ? problem : "is no \(key) of a signal")
                }
                return text
            }
        }
    }
}
