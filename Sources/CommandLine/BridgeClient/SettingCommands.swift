import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import JacquardProtocol
import MQTTTypes
import Terminal
import Text
import Time

/// A command line that is one command to tags: `name`, `touch-mode`, `battery`, `connection`, `sleep`, `notify`, `config`,
/// and those of features.
struct TagSettingCommand: ClientCommand {
    /// The tags.
    let tags: TagOperand
    /// The command, such as `name`.
    let command: String
    /// `set` or `get`.
    var verb = "set"
    /// Its keys, without `id`.
    var payload: [String: JSONValue] = [:]
    /// How long to wait for a tag that is not connected.
    var lifetime: Duration?

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let order = TagOrder(tags: tags, command: command, verb: verb, payload: payload, lifetime: lifetime)
        let forecasts = try await forecasts(context)
        try await context.perform(order) { id, result in
            [sentence(id, result), forecasts[id]].compactMap(\.self).joined(separator: ", ")
        }
    }

    /// The forecasts of the battery by tag, for people.
    @LoopActor
    private func forecasts(_ context: ClientContext) async throws(ClientFailure) -> [String: String] {
        guard command == "battery", !context.printer.isJSON else { return [:] }
        let messages = try await context.withSession { session throws(ClientFailure) in
            try await session.snapshot(of: [session.topics.tag("+", "battery/forecast")])
        }
        let now = WallClock.unixMilliseconds
        let texts = messages.compactMap { message -> (String, String)? in
            guard case .tag(let id)? = context.topics.split(message.topic)?.owner else { return nil }
            return ForecastText(JSONValue(payload: message.payload), at: now).map { (id, $0.long) }
        }
        return Dictionary(texts) { $1 }
    }

    /// The sentence for a successful result of a tag.
    func sentence(_ id: String, _ result: JSONValue) -> String {
        let data = result["data"]
        switch command {
        case "battery":
            guard let level = data?["level"]?.word else { break }
            return "\(id): battery \(level) %" + (data?["charging"]?.flag == true ? ", charging" : "")
        case "config":
            guard let key = data?["key"]?.word else { break }
            guard let value = data?["value"], let word = value.word else { return "\(id): \(key) has no value" }
            // `true`, as it is typed.
            return "\(id): \(key) is \(value.flag == nil ? word : value.text)"
                + (data?["type"]?.word.map { " (\($0))" } ?? "")
        case "connection":
            guard let state = data?["state"]?.word else { break }
            return "\(id) is \(state.asWords)"
        case "name": return result.sentence(of: id, "its name is \(payload["name"]?.word ?? "changed")")
        case "touch_mode": return result.sentence(of: id, "touch mode is \(payload["touch_mode"]?.word ?? "changed")")
        case "sleep":
            let seconds = payload["timeout_s"]?.integer ?? 0
            return result.sentence(of: id, seconds > 0 ? "sleeps in \(seconds) s" : "sleeps")
        case "notify": return result.sentence(of: id, "plays \(payload["signal"]?.word ?? "a signal")")
        default: break
        }
        let feature = FeatureTable.commandLines.first { $0.name == command }
        return result.sentence(of: id, feature?.sentence(payload) ?? "done")
    }
}

extension TagSettingCommand {
    /// The rows of the command table.
    static let rows =
        [nameRow, touchModeRow, batteryRow, connectionRow, sleepRow] + FeatureTable.commandLines.map(row)
        + [notifyRow, configRow]

    /// The row of a feature's command line.
    static func row(_ line: TagCommandLine) -> Command<any CommandAction> {
        let (operand, number) = (line.operand, line.number)
        let option = OptionDescription(
            name: number.name, value: number.unit.name.uppercased(), details: [number.details])
        let range = Int(number.range.lowerBound)...Int(number.range.upperBound)
        return Command(
            name: line.name, summary: line.summary, details: line.details, options: [.config, .json, option, .wait],
            operands: [.required("ID", .tags), .optional(operand.name, .words(operand.words))],
            values: RowText.ids + [
                "\(operand.name) is \(operand.words.joined(separator: " or ")) (default: \(operand.standard))."
            ],
            json: RowText.resultsJSON, examples: line.examples
        ) { arguments throws(CommandLineError) in
            let word = try arguments.optionalOperand(1, operand.name, .choice(of: operand.words)) ?? operand.standard
            var payload: [String: JSONValue] = [operand.key: .string(word)]
            let value = try arguments.value(of: option, .integer(range, unit: " \(number.unit.name)"))
            guard value == nil || number.words.contains(word) else {
                throw CommandLineError(message: "\(number.name) is not for \(word)")
            }
            payload[number.key] = value.map { .integer(Int64($0)) }
            return try action(arguments, line.name, payload: payload)
        }
    }

    private static let nameRow = Command<any CommandAction>(
        name: "name",
        summary: "rename a tag",
        details: ["Stores the name in the tag. A name in the configuration takes precedence."],
        options: [.config, .json, .wait],
        operands: [.required("ID", .tag), .required("NAME")],
        values: RowText.id + ["NAME has 1 to 21 bytes; quote a name with blanks."],
        json: RowText.resultJSON,
        examples: ["name 003R 'Left sleeve'"]
    ) { arguments throws(CommandLineError) in
        let tag = TagOperand(tag: try arguments.operand(0, "ID", .topicLevel))
        let name = try arguments.operand(1, "NAME", tagName)
        return try ClientAction(
            TagSettingCommand(
                tags: tag, command: "name", payload: ["name": .string(name)], lifetime: try arguments.lifetime()),
            arguments)
    }

    private static let touchModes = TouchModeTable.rows.map(\.word)

    private static let touchModeRow = Command<any CommandAction>(
        name: "touch-mode",
        summary: "choose gestures or touches of the gear",
        details: TouchModeTable.rows.flatMap(\.details),
        options: [.config, .json, .wait],
        operands: [.required("ID", .tags), .required("MODE", .words(touchModes))],
        values: RowText.ids + ["MODE is one of \(touchModes.joined(separator: ", "))."],
        json: RowText.resultsJSON,
        examples: ["touch-mode 003R continuous", "touch-mode all gesture"]
    ) { arguments throws(CommandLineError) in
        let mode = try arguments.operand(1, "MODE", .choice(of: touchModes))
        return try action(arguments, "touch_mode", payload: ["touch_mode": .string(mode)])
    }

    private static let batteryRow = Command<any CommandAction>(
        name: "battery",
        summary: "read the battery of tags",
        details: ["Reads the level from each tag, and prints it."],
        options: [.config, .json, .wait],
        operands: [.required("ID", .tags)],
        values: RowText.ids,
        json: RowText.resultsJSON,
        examples: ["battery 003R", "battery all"]
    ) { arguments throws(CommandLineError) in try action(arguments, "battery", verb: "get") }

    private static let connections = ["connect", "disconnect"]

    private static let connectionRow = Command<any CommandAction>(
        name: "connection",
        summary: "connect or disconnect tags",
        details: [
            "A disconnected tag stays disconnected until connect, also after a restart",
            "of the bridge. Waits until the tag is in that state.",
        ],
        options: [.config, .json],
        operands: [.required("ID", .tags), .required("STATE", .words(connections))],
        values: RowText.ids + ["STATE is connect or disconnect."],
        json: RowText.resultsJSON,
        examples: ["connection 003R disconnect"]
    ) { arguments throws(CommandLineError) in
        let state = try arguments.operand(1, "STATE", .choice(of: connections))
        return try action(arguments, "connection", payload: ["connection": .string(state)])
    }

    private static let sleepRow = Command<any CommandAction>(
        name: "sleep",
        summary: "let tags sleep",
        details: ["Makes the tag disconnect. It returns by itself, or when it is moved."],
        options: [.config, .json, timeoutOption, motionOption, .wait],
        operands: [.required("ID", .tags)],
        values: RowText.ids,
        json: RowText.resultsJSON,
        examples: ["sleep 003R --timeout 30 --wake-on-motion"]
    ) { arguments throws(CommandLineError) in
        var payload: [String: JSONValue] = [:]
        let timeout = try arguments.value(of: timeoutOption, .wholeSeconds(0...86_400))
        payload["timeout_s"] = timeout.map { .integer($0.components.seconds) }
        if arguments.options[motionOption.name] != nil { payload["wake_on_motion"] = true }
        return try action(arguments, "sleep", payload: payload)
    }

    private static let timeoutOption = OptionDescription(
        name: "--timeout", value: "SECONDS", details: ["When the tag disconnects, at most 86400 (default: 0)."])
    private static let motionOption = OptionDescription(
        name: "--wake-on-motion", value: nil, details: ["The tag returns only after it is moved."])

    private static let notifyRow = Command<any CommandAction>(
        name: "notify",
        summary: "play a signal on tags",
        details: [
            "Signals are those of the configuration, and default, doorbell, success,", "failure, warning, alarm.",
        ],
        options: [.config, .json, .wait],
        operands: [.required("ID", .tags), .required("SIGNAL")],
        values: RowText.ids + ["SIGNAL is the name of a signal."],
        json: RowText.resultsJSON,
        examples: ["notify 003R doorbell"]
    ) { arguments throws(CommandLineError) in
        let signal = try arguments.operand(1, "SIGNAL", anyText)
        return try action(arguments, "notify", payload: ["signal": .string(signal)])
    }

    private static let configRow = Command<any CommandAction>(
        name: "config",
        summary: "read or write a value in the store of tags",
        details: [
            "Reads the value of a key, or writes VALUE. Without --type, true and false",
            "are bool, whole numbers uint32, int32, uint64 or int64, the first that",
            "fits, other numbers double, and everything else is a string. Write --",
            "before a negative number.",
        ],
        options: [.config, .json, typeOption, vendorOption, productOption, .wait],
        operands: [.required("ID", .tags), .required("KEY"), .optional("VALUE")],
        values: RowText.ids + ["KEY is a key of the store, VALUE its new value."],
        json: RowText.resultsJSON,
        examples: ["config 003R colour", "config 003R colour 7 --type uint32", "config 003R offset -- -7"]
    ) { arguments throws(CommandLineError) in
        let type = try arguments.value(of: typeOption, ScalarRule<ConfigType>.choice)
        var payload: [String: JSONValue] = ["key": .string(try arguments.operand(1, "KEY", anyText))]
        payload["vendor_id"] = try arguments.value(of: vendorOption, identifier).map(JSONValue.string)
        payload["product_id"] = try arguments.value(of: productOption, identifier).map(JSONValue.string)
        guard let text = try arguments.optionalOperand(2, "VALUE", anyText) else {
            guard type == nil else { throw CommandLineError(message: "\(typeOption.name) is given without VALUE") }
            return try action(arguments, "config", verb: "get", payload: payload)
        }
        let chosen = type ?? ConfigType(of: text)
        guard let value = chosen.value(text) else {
            throw CommandLineError(
                message: "VALUE: \(DisplayText.quoted(text)) is no \(chosen.rawValue); allowed: \(chosen.allowed)")
        }
        payload["type"] = .string(chosen.rawValue)
        payload["value"] = value
        return try action(arguments, "config", payload: payload)
    }

    private static let typeOption = OptionDescription(
        name: "--type", value: "TYPE", completion: .words(ConfigType.allCases.map(\.rawValue)),
        details: [ConfigType.allCases.map(\.rawValue).joined(separator: ", ") + "."])
    private static let vendorOption = OptionDescription(
        name: "--vendor", value: "NUMBER",
        details: ["The vendor of the key, such as 11-78-30-c8 (default: that of the tag)."])
    private static let productOption = OptionDescription(
        name: "--product", value: "NUMBER",
        details: ["The product of the key, such as 11-78-30-c8 (default: that of the tag)."])

    private static func action(
        _ arguments: ParsedArguments, _ command: String, verb: String = "set", payload: [String: JSONValue] = [:]
    ) throws(CommandLineError) -> any CommandAction {
        let tags = try arguments.operand(0, "ID", TagOperand.rule)
        return try ClientAction(
            TagSettingCommand(
                tags: tags, command: command, verb: verb, payload: payload,
                lifetime: command == "connection" ? nil : try arguments.lifetime()), arguments)
    }
}

/// Values of a tag's store, as they are typed.
extension ConfigType {
    /// The type of a value that is given without one.
    init(of text: String) {
        let whole = [ConfigType.uint32, .int32, .uint64, .int64].first { $0.value(text) != nil }
        let isDecimal = text.utf8.allSatisfy { ASCII.isDigit($0) || "+-.eE".utf8.contains($0) }
        let isDouble = isDecimal && ConfigType.double.value(text) != nil
        self = ConfigType.bool.value(text) != nil ? .bool : whole ?? (isDouble ? .double : .string)
    }

    /// The values, for error texts.
    var allowed: String {
        switch self {
        case .bool: "true, false"
        case .uint32: "0 to \(UInt32.max)"
        case .uint64: "0 to \(UInt64.max)"
        case .int32: "\(Int32.min) to \(Int32.max)"
        case .int64: "\(Int64.min) to \(Int64.max)"
        case .float, .double: "a number, such as 1.5"
        case .string: "a text"
        }
    }

    /// Returns a text as a value of this type; nil if it is none.
    func value(_ text: String) -> JSONValue? {
        switch self {
        case .bool: text == "true" ? true : text == "false" ? false : nil
        case .uint32: UInt32(text).map { .integer(Int64($0)) }
        case .uint64: UInt64(text).map { Int64(exactly: $0).map(JSONValue.integer) ?? .unsigned($0) }
        case .int32: Int32(text).map { .integer(Int64($0)) }
        case .int64: Int64(text).map(JSONValue.integer)
        case .float, .double: Double(text).flatMap { $0.isFinite ? .number($0) : nil }
        case .string: .string(text)
        }
    }
}

/// The name of a tag.
private var tagName: ScalarRule<String> {
    ScalarRule(allowed: "1 to 21 bytes") { text throws(Rejection) in
        guard BLEConfiguration.nameByteCounts.contains(text.utf8.count) else {
            throw Rejection("has \(text.utf8.count) bytes")
        }
        return text
    }
}

/// The number of a vendor or a product.
private var identifier: ScalarRule<String> {
    ScalarRule(allowed: "four bytes such as 11-78-30-c8") { text throws(Rejection) in
        guard let number = JacquardIdentifier(text) else { throw Rejection("is no such number") }
        return number.description
    }
}

/// A text that the bridge checks.
private var anyText: ScalarRule<String> {
    ScalarRule(allowed: "a text") { text throws(Rejection) in text }
}

/// `log-level`: sets the log level of the bridge until its next start.
struct LogLevelCommand: ClientCommand {
    /// The level.
    let level: String

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let request = ClientRequest(verb: "log_level", ["level": .string(level)], context.topics)
        try await context.perform(request) { _ in "the bridge \(context.topics.instance) logs at level \(level)" }
    }

    static let row = Command<any CommandAction>(
        name: "log-level",
        summary: "set the log level of the bridge",
        details: [
            "The level lasts until the next start of the bridge, or until a reload that", "changes log.level.",
        ],
        options: [.config, .json],
        operands: [.required("LEVEL", .words(levels))],
        values: ["LEVEL is one of " + levels.joined(separator: ", ") + "."],
        json: RowText.resultJSON,
        examples: ["log-level debug"]
    ) { arguments throws(CommandLineError) in
        try ClientAction(LogLevelCommand(level: try arguments.operand(0, "LEVEL", .choice(of: levels))), arguments)
    }

    private static let levels = LogLevel.allCases.map(\.rawValue)
}
