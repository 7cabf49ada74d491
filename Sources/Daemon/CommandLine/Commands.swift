import CommandLine
import Configuration
import Text

/// The commands of the program: each is one row, from which the command line is read and the help is made.
enum Commands {
    /// In the order of the help.
    static let table = CommandTable(
        program: program,
        commands: [
            Command<Invocation>(
                name: "run",
                summary: "run the bridge",
                details: [
                    "Connects the tags and the broker and works until it is ended by SIGTERM or",
                    "SIGINT. SIGHUP makes it read its configuration again. This is what the",
                    "service starts.",
                ],
                options: [config, state, logLevel]
            ) { arguments throws(CommandLineError) in
                .run(
                    config: arguments.options[config.name],
                    state: arguments.options[state.name],
                    logLevel: try arguments.value(of: logLevel, .choice))
            },
            Command<Invocation>(
                name: "check-config",
                summary: "say what is wrong with the configuration",
                details: [
                    "Reads the configuration as run does and connects to nothing. Prints each",
                    "error with its line, its key and what is allowed, or that there is none",
                    "and what should be known. Ends with 0 if there is no error, else with 1.",
                ],
                options: [config, .json, print],
                optionalOperands: ["FILE"],
                values: ["FILE is the configuration file, as with --config."],
                json: [
                    #"{"file","status","errors","notices"}; an error is {"key","text","allowed","#,
                    #""line","column","variable"}. With --print also "values", lists by key."#,
                ],
                examples: ["check-config my.yaml", "check-config --print mqtt.host,mqtt.port,tags.N.serial"]
            ) { arguments throws(CommandLineError) in
                if arguments.options[config.name] != nil, let file = arguments.operands.first {
                    throw CommandLineError(
                        message: "two files are given: \(config.name) and \(DisplayText.quoted(file))")
                }
                return .checkConfig(
                    config: arguments.options[config.name] ?? arguments.operands.first,
                    isJSON: arguments.options[OptionDescription.json.name] != nil,
                    keys: try printedKeys(arguments.options[print.name]))
            },
        ] + clientCommands)

    /// The keys of `--print`, each of which has to be known.
    private static func printedKeys(_ list: String?) throws(CommandLineError) -> [String] {
        let keys = list?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        let known = Settings.printableKeys
        for key in keys {
            let parts = key.split(separator: ".", omittingEmptySubsequences: false)
            let general = parts.enumerated().map {
                $0 == 1 && ["tags", "gear"].contains(parts[0]) && Int($1) != nil ? "N" : $1
            }
            guard !known.contains(general.joined(separator: ".")) else { continue }
            guard key != "mqtt.password" else { throw CommandLineError(message: "mqtt.password is never printed") }
            let below = known.filter { $0.hasPrefix(key + ".") }
            let hint =
                below.isEmpty
                ? Spelling.hint(for: key, in: known) : "; it is a section with \(below.joined(separator: ", "))"
            throw CommandLineError(message: "\(print.name): \(DisplayText.quoted(key)) is no key\(hint)")
        }
        return keys
    }

    private static let print = OptionDescription(
        name: "--print",
        value: "KEY[,KEY...]",
        details: [
            "Print the values of these keys instead, one on a line; what the file",
            "leaves out has its default. N is for every tag: tags.N.serial.",
        ])

    /// The file that every command reads.
    static let config = OptionDescription(
        name: "--config",
        value: "FILE",
        details: [
            "The configuration file. Default: $JACQUARD2MQTT_CONFIG, else",
            "\(ConfigurationFile.defaultPath); the latter may be missing.",
        ])

    /// Where the bridge remembers its tags.
    static let state = OptionDescription(
        name: "--state",
        value: "DIR",
        details: [
            "The folder in which the bridge remembers its tags. Default:",
            "$STATE_DIRECTORY, else /var/lib/jacquard2mqtt.",
        ])

    private static let logLevel = OptionDescription(
        name: "--log-level",
        value: "LEVEL",
        details: [
            "How much is logged, whatever the configuration says:",
            ScalarRule<Settings.Log.Level>.choice.allowed + ".",
        ])

    private static let program = ProgramDescription(
        name: "jacquard2mqtt",
        summary: "bridge from Google Jacquard tags to MQTT",
        details: [
            "Finds Jacquard tags over Bluetooth LE, keeps them connected, and maps each",
            "to MQTT topics: gestures, battery, gear and touch one way; LED, haptics,",
            "name and settings the other. Home Assistant finds the tags by MQTT",
            "discovery.",
        ],
        sections: [
            HelpSection(
                "FILES",
                [
                    ConfigurationFile.defaultPath,
                    "    The configuration, if no other is named. Every key is optional.",
                ]
            ),
            HelpSection(
                "ENVIRONMENT",
                [
                    EnvironmentSetting.fileVariable,
                    "    The configuration file, unless --config names one.",
                    EnvironmentSetting.prefix + "SECTION__KEY",
                    "    Wins over a key of the file: JACQUARD2MQTT_MQTT__HOST is mqtt.host,",
                    "    JACQUARD2MQTT_TAGS__0__SERIAL the serial of the first tag.",
                ]
            ),
            HelpSection(
                "EXIT STATUS",
                [
                    "\(ExitCode.done.rawValue)   done",
                    "\(ExitCode.failed.rawValue)   failed",
                    "\(ExitCode.wrongUsage.rawValue)   wrong usage or configuration",
                    "\(ExitCode.noConnection.rawValue)   no connection to bus, broker or bridge",
                ]
            ),
        ])
}
