public import CommandLine
import Configuration
public import Terminal

/// The commands of the daemon.
public enum DaemonCommands {
    /// The rows of the command table, in the order of the help.
    public static let rows: [Command<any CommandAction>] = [RunCommand.row, CheckConfigCommand.row]
}

extension ProgramDescription {
    /// The program `jacquard2mqtt`.
    public static let jacquard2mqtt = ProgramDescription(
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
