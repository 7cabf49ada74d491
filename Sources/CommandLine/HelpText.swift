import Configuration

/// The pages of `--help`, in the order and with the titles of a manual page.
struct HelpText {
    /// What there is to explain.
    let commands: [CommandDescription]

    /// The page of a command.
    ///
    /// - Parameter topic: the command's name; nil, or a name that is unknown: the page of the program.
    /// - Returns: lines of at most 80 characters, the last one with its newline.
    func page(for topic: String?) -> String {
        let command = commands.first { $0.name == topic }
        let sections = (command.map(Self.sections(of:)) ?? programSections) + Self.commonSections
        return sections.map { title, lines in
            "\(title)\n" + lines.map { "    \($0)\n" }.joined()
        }.joined(separator: "\n")
    }

    private typealias HelpSection = (title: String, lines: [String])

    private var programSections: [HelpSection] {
        let width = (commands.map(\.name.count).max() ?? 0) + 3
        return [
            ("NAME", ["jacquard2mqtt - bridge from Google Jacquard tags to MQTT"]),
            ("SYNOPSIS", commands.flatMap { Self.synopsis($0.synopsisWords) } + Self.synopsis(["--help | --version"])),
            (
                "DESCRIPTION",
                [
                    "Finds Jacquard tags over Bluetooth LE, keeps them connected, and maps each",
                    "to MQTT topics: gestures, battery, gear and touch one way; LED, haptics,",
                    "name and settings the other. Home Assistant finds the tags by MQTT",
                    "discovery.",
                ]
            ),
            ("COMMANDS", commands.map { Self.padded($0.name, to: width) + $0.summary }),
            ("OPTIONS", Self.lines(of: CommandLineParser.commonOptions)),
        ]
    }

    private static func sections(of command: CommandDescription) -> [HelpSection] {
        let sections: [HelpSection] = [
            ("NAME", ["jacquard2mqtt \(command.name) - \(command.summary)"]),
            ("SYNOPSIS", synopsis(command.synopsisWords)),
            ("DESCRIPTION", command.details),
            ("VALUES", command.values),
            ("OPTIONS", lines(of: command.options + CommandLineParser.commonOptions)),
            ("JSON", command.json),
            ("EXAMPLES", command.examples.map { "jacquard2mqtt \($0)" }),
        ]
        return sections.filter { !$0.lines.isEmpty }
    }

    /// `jacquard2mqtt` and the words, broken into lines of at most 76 characters, further ones indented.
    private static func synopsis(_ words: [String]) -> [String] {
        var lines = ["jacquard2mqtt"]
        for word in words {
            let line = lines[lines.count - 1]
            if line.count + 1 + word.count <= 76 {
                lines[lines.count - 1] = line + " " + word
            } else {
                lines.append("    " + word)
            }
        }
        return lines
    }

    private static let commonSections: [HelpSection] = [
        (
            "FILES",
            [
                ConfigurationFile.defaultPath,
                "    The configuration, if no other is named. Every key is optional.",
            ]
        ),
        (
            "ENVIRONMENT",
            [
                EnvironmentSetting.fileVariable,
                "    The configuration file, unless --config names one.",
                EnvironmentSetting.prefix + "SECTION__KEY",
                "    Wins over a key of the file: JACQUARD2MQTT_MQTT__HOST is mqtt.host,",
                "    JACQUARD2MQTT_TAGS__0__SERIAL the serial of the first tag.",
            ]
        ),
        (
            "EXIT STATUS",
            [
                "\(ExitCode.done.rawValue)   done",
                "\(ExitCode.failed.rawValue)   failed",
                "\(ExitCode.wrongUsage.rawValue)   wrong usage or configuration",
                "\(ExitCode.noConnection.rawValue)   no connection to bus, broker or bridge",
            ]
        ),
    ]

    private static func lines(of options: [OptionDescription]) -> [String] {
        options.flatMap { option in [option.synopsis] + option.details.map { "    \($0)" } }
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 1))
    }
}
