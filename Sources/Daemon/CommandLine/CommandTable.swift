/// The commands of the program: each is one row, from which the command line is read and the help is made.
enum CommandTable {
    /// In the order of the help.
    static let commands =
        [
            CommandDescription(
                name: "run",
                summary: "run the bridge",
                details: [
                    "Connects the tags and the broker and works until it is ended by SIGTERM or",
                    "SIGINT. SIGHUP makes it read its configuration again. This is what the",
                    "service starts.",
                ],
                options: [config, state, logLevel]
            ) { arguments throws(UsageError) in
                .run(
                    config: arguments.options[config.name],
                    state: arguments.options[state.name],
                    logLevel: try arguments.value(of: logLevel, .choice))
            },
            CommandDescription(
                name: "check-config",
                summary: "say what is wrong with the configuration",
                details: [
                    "Reads the configuration as run does and connects to nothing. Prints each",
                    "error with its line, its key and what is allowed, or that all is well and",
                    "what should be known. Ends with 0 if there is no error, else with 1.",
                ],
                options: [config, json],
                json: [
                    #"{"file","status","errors","notices"}; an error is {"key","text","allowed","#,
                    #""line","column","variable"}."#,
                ]
            ) { arguments throws(UsageError) in
                .checkConfig(config: arguments.options[config.name], isJSON: arguments.options[json.name] != nil)
            },
        ] + clientCommands

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
            ScalarRule<Configuration.Log.Level>.choice.allowed + ".",
        ])

    /// For machines.
    static let json = OptionDescription(name: "--json", value: nil, details: ["Print JSON, for machines."])
}
