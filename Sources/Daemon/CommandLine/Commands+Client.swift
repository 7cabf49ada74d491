import Bridge
import CommandLine
import Configuration
import Text

extension Commands {
    /// The commands that ask the running bridge, and the one that looks for trouble.
    static let clientCommands = [scan, pair, forget, tags, status, monitor, led, haptic, clear, doctor]

    private static let scan = Command<Invocation>(
        name: "scan",
        summary: "list the tags in reach",
        details: [
            "Listens for tags and prints a table of those that were heard, the nearest",
            "first. The running bridge listens; where none runs, this command does,",
            "with the machine's own adapter. Ctrl-C ends it early.",
        ],
        options: [config, .json, scanDuration],
        json: [#"{"source","tags":[{"address","serial","name","rssi","known"}]}; source is"#, "bridge or adapter."],
        examples: ["scan", "scan --duration 10 --json"]
    ) { arguments throws(CommandLineError) in
        let duration = try arguments.value(of: scanDuration, .wholeSeconds(1...3600))
        return .ask(.scan(duration: duration ?? .seconds(30)), ClientOptions(arguments))
    }

    private static let pair = Command<Invocation>(
        name: "pair",
        summary: "make a tag known and connect it",
        details: [
            "Asks the bridge to find the tag with this serial, to pair it and to keep",
            "it connected from now on. Says what to do with the tag, and how much time",
            "is left, on standard error.",
        ],
        options: [config, .json, pairTimeout],
        operands: ["SERIAL"],
        values: [
            "SERIAL is printed on the tag: the last four characters before the last",
            "hyphen, such as 003R, or the whole number, such as 0-07-9324FLHBK0003R-1903;",
            "case matters.",
        ],
        json: resultJSON,
        examples: ["pair 003R"]
    ) { arguments throws(CommandLineError) in
        let serial = try arguments.operand(0, "SERIAL", .serial)
        let timeout = try arguments.value(of: pairTimeout, .wholeSeconds(1...300))
        return .ask(.pair(serial: serial, timeout: timeout ?? .seconds(60)), ClientOptions(arguments))
    }

    private static let forget = Command<Invocation>(
        name: "forget",
        summary: "forget a tag",
        details: [
            "Asks the bridge to drop the tag, its bond, and everything that is retained",
            "of it, Home Assistant's entities included. A tag that the configuration",
            "lists comes back with the next start or reload.",
        ],
        options: [config, .json],
        operands: ["ID"],
        values: idValue,
        json: resultJSON,
        examples: ["forget 003R"]
    ) { arguments throws(CommandLineError) in
        .ask(.forget(id: try arguments.operand(0, "ID", .topicLevel)), ClientOptions(arguments))
    }

    private static let tags = Command<Invocation>(
        name: "tags",
        summary: "list the tags that the bridge knows or has heard",
        details: ["Asks the bridge for its tags and prints a table."],
        options: [config, .json],
        json: ["The data of the bridge's result."]
    ) { arguments throws(CommandLineError) in .ask(.tags, ClientOptions(arguments)) }

    private static let status = Command<Invocation>(
        name: "status",
        summary: "show the state of the bridge and of its tags",
        details: [
            "Prints what the bridge has published: its state, its problems, its",
            "adapters, and a table of its tags. Ends with 3 if the bridge is offline;",
            "what it published last is printed all the same.",
        ],
        options: [config, .json],
        json: [
            #"{"bridge":{"instance","state","info","health","adapters"},"tags":[{"id","#,
            #""availability","connection","battery","gear","info","touch_mode","led","#,
            #""rssi","stats"}]}; each part as the bridge publishes it, or null."#,
        ]
    ) { arguments throws(CommandLineError) in .ask(.status, ClientOptions(arguments)) }

    private static let monitor = Command<Invocation>(
        name: "monitor",
        summary: "show what is published, as it comes",
        details: [
            "One line for each event: when, which tag, what. A * marks a gesture, a =",
            "what was published before. Ctrl-C ends it; that is no failure.",
        ],
        options: [config, .json, newOnly],
        optionalOperands: ["ID"],
        values: ["ID is what the one tag that is shown is called in topics. Default: all."],
        json: [#"One object a line: {"time","topic","payload","retained","initial"}."#],
        examples: ["monitor", "monitor 003R", "monitor --json | jq -r .topic"]
    ) { arguments throws(CommandLineError) in
        .ask(
            .monitor(
                id: try arguments.optionalOperand(0, "ID", .topicLevel),
                isNewOnly: arguments.options[newOnly.name] != nil),
            ClientOptions(arguments))
    }

    private static let clear = Command<Invocation>(
        name: "clear",
        summary: "remove what a stopped bridge has left at the broker",
        details: [
            "Removes every retained topic of the bridge that the configuration names and",
            "of its tags, and their devices in Home Assistant. For a bridge that is not",
            "started again; while it is online, nothing is removed. Bonds are kept.",
        ],
        options: [config, .json],
        json: [#"{"status","topics"}: the topics that were removed."#],
        examples: ["clear"]
    ) { arguments throws(CommandLineError) in .ask(.clear, ClientOptions(arguments)) }

    private static let newOnly = OptionDescription(
        name: "--new", value: nil, details: ["Leave out what was published before."])

    /// What `ID` is, where it has to be given.
    static let idValue = ["ID is what the tag is called in topics; by default its serial."]
    /// What `--json` prints for a command that is one request.
    static let resultJSON = ["The bridge's result, as it is on MQTT, or the error."]

    private static let scanDuration = OptionDescription(
        name: "--duration", value: "SECONDS", details: ["How long to listen. Default: 30."])
    private static let pairTimeout = OptionDescription(
        name: "--timeout", value: "SECONDS", details: ["How long pairing may take, at most 300. Default: 60."])
}

extension ClientOptions {
    /// What every command of the client takes.
    init(_ arguments: ParsedArguments) {
        config = arguments.options[Commands.config.name]
        isJSON = arguments.options[OptionDescription.json.name] != nil
    }
}

extension ScalarRule where Value == String {
    /// A tag's id as it may stand in a topic, wherever it was given to the tag.
    static var topicLevel: ScalarRule {
        ScalarRule(allowed: "1 to \(TagID.longest) bytes without / + # and control characters") {
            text throws(Rejection) in
            guard let id = TagID(text) else { throw Rejection("is no id of a tag") }
            return id.text
        }
    }
}
