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
                .files,
                [
                    .init(
                        ConfigurationFile.defaultPath,
                        ["The configuration, if no other is named. Every key is optional."]),
                    .init(
                        "/etc/jacquard2mqtt/password",
                        [
                            "The broker's password for the service, one line, readable by root only.",
                            "The configuration refers to it with `password_file: password`.",
                        ], isInManualOnly: true),
                    .init(StatePath.standard + "/tags.json", ["The known tags."], isInManualOnly: true),
                    .init(
                        StatePath.standard + "/batteries.json", ["The battery levels behind the forecasts."],
                        isInManualOnly: true),
                    .init(
                        StatePath.standard + "/events.ring", ["The recorded events, if record.hours is set."],
                        isInManualOnly: true),
                    .init(
                        StatePath.standard + "/events.tags.json",
                        ["The ids of the tags that events.ring has as tag-1, tag-2 and so on."], isInManualOnly: true),
                    .init(
                        StatePath.standard + "/lock",
                        [
                            "Prevents a second bridge from using the folder; contains the process ID of",
                            "the first one.",
                        ], isInManualOnly: true),
                    .init(
                        StatePath.standard + "/runs.json", ["The instance names under which the bridge has run."],
                        isInManualOnly: true),
                    .init("/usr/share/doc/jacquard2mqtt/html", ["The manual."], isInManualOnly: true),
                    .init(
                        "/usr/share/doc/jacquard2mqtt/examples",
                        ["Example configurations for brokers and Home Assistant."], isInManualOnly: true),
                ]),
            HelpSection(
                .environment,
                [
                    .init(EnvironmentSetting.fileVariable, ["The configuration file, unless --config names one."]),
                    .init(
                        EnvironmentSetting.prefix + "SECTION__KEY",
                        [
                            "Overrides a key of the file: JACQUARD2MQTT_MQTT__HOST is mqtt.host,",
                            "JACQUARD2MQTT_TAGS__0__SERIAL the serial of the first tag.",
                            "Empty: not set. Those of Kubernetes and container links are ignored.",
                        ]),
                    .init(
                        "NO_COLOR", ["Not empty: no colours, unless --color is always."], isInManualOnly: true),
                    .init("DBUS_SYSTEM_BUS_ADDRESS", ["The address of the bus with BlueZ."], isInManualOnly: true),
                ]),
            HelpSection(
                .exitStatus,
                [
                    .init("\(ExitCode.done.rawValue)", ["done"]), .init("\(ExitCode.failed.rawValue)", ["failed"]),
                    .init("\(ExitCode.wrongUsage.rawValue)", ["wrong usage or configuration"]),
                    .init("\(ExitCode.noConnection.rawValue)", ["no connection to bus, broker or bridge"]),
                ]),
        ],
        manual: ManualText(
            details: [
                "The systemd service executes `run`; it starts when the configuration names a broker.",
                "The other commands check the configuration and the host, or communicate with the",
                "running bridge through the configured broker.",
            ],
            examples: ["mosquitto_sub -v -t 'jacquard/tag/+/gesture'"],
            seeAlso: ["jacquard-simulator 1", "bluetoothctl 1", "mosquitto_pub 1", "systemctl 1"]))
}
