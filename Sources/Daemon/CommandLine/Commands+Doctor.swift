import CommandLine
import Configuration

extension Commands {
    /// `doctor`.
    static let doctor = Command<Invocation>(
        name: "doctor",
        summary: "look for what keeps the bridge from working",
        details: [
            "Checks one thing after the other: configuration, system bus, bluetoothd,",
            "adapter, broker, Home Assistant, clock and state folder. Says of each",
            "whether it is well, what was found, and what to do. Changes nothing, and",
            "works without a broker and a bridge. Ends with 1 if a check has failed.",
        ],
        options: [config, state, .json],
        json: [
            #"{"status","checks":[{"name","title","verdict","found","remedies"}]};"#,
            "a verdict is ok, warning, failed or skipped, the status the worst of them.",
        ],
        examples: ["doctor", "doctor --config my.yaml"]
    ) { arguments throws(CommandLineError) in
        .doctor(state: arguments.options[state.name], ClientOptions(arguments))
    }
}
