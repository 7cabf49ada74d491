public import CommandLine
public import Terminal
import Text

/// The commands of `jacquard2mqtt-web`.
public enum WebProgram {
    static let config = OptionDescription(
        name: "--config", value: "FILE",
        details: [
            "The bridge's configuration, of which the broker is used",
            "(default: $JACQUARD2MQTT_CONFIG, else /etc/jacquard2mqtt/config.yaml).",
        ])
    static let web = OptionDescription(
        name: "--web", value: "FILE",
        details: ["Address, users and encryption of the page", "(default: /etc/jacquard2mqtt/web.yaml)."])
    static let runtime = OptionDescription(
        name: "--runtime", value: "DIR",
        details: [
            "The folder for one-time links (default: $RUNTIME_DIRECTORY,",
            "/run/jacquard2mqtt-web for root, or a folder in $XDG_RUNTIME_DIR).",
        ])

    static let device = OptionDescription(
        name: "--device", value: "NAME",
        details: [
            "A link for a device, whose session lasts until it is ended on the",
            "page, or unused for 90 days. NAME has 1 to 32 bytes.",
        ])
    static let qr = OptionDescription(
        name: "--qr", value: nil,
        details: [
            "Prints the link as a QR code, too, with the first address of",
            "trusted_origins. Needs qrencode.",
        ])

    /// The commands of the program.
    public static let table = CommandTable<any CommandAction>(
        program: ProgramDescription(
            name: "jacquard2mqtt-web", summary: "web page for bridges from Google Jacquard tags to MQTT",
            details: [
                "Serves a page that shows the tags of all bridges of a broker, pairs tags,",
                "sends them commands and explains why a tag is offline. It connects to the",
                "broker only, and may run on any host that can reach it.",
            ],
            sections: [
                HelpSection(
                    "FILES",
                    [
                        "/etc/jacquard2mqtt/config.yaml    the broker, as for the bridge",
                        "/etc/jacquard2mqtt/web.yaml       address, users and encryption",
                    ]),
                HelpSection(
                    .exitStatus,
                    [
                        .init("0", ["done, or ended by SIGTERM or SIGINT"]), .init("1", ["failed"]),
                        .init("2", ["wrong usage or configuration"]), .init("3", ["no page is running"]),
                    ]),
            ],
            manual: ManualText(seeAlso: ["jacquard2mqtt 1", "systemd.socket 5"])),
        commands: [
            Command(
                name: "run", summary: "serve the page",
                details: [
                    "Serves the page until SIGTERM or SIGINT, by default on", "http://127.0.0.1:8377/.",
                ],
                options: [config, web, runtime], examples: ["run", "run --config my.yaml --web web.yaml"]
            ) { arguments throws(CommandLineError) in
                ServeCommand(
                    config: try arguments.value(of: config, path), web: try arguments.value(of: web, path),
                    runtime: try arguments.value(of: runtime, path))
            },
            Command(
                name: "open", summary: "print a one-time link to the running page",
                details: [
                    "For a page on a loopback address without users. The link is valid for ten",
                    "minutes and one login; a new one makes it invalid. If systemd starts the",
                    "page with the first browser, this command starts it.",
                ],
                options: [web, runtime, device, qr], examples: ["open", "open --device hall", "open --qr"]
            ) { arguments throws(CommandLineError) in
                OpenCommand(
                    web: try arguments.value(of: web, path), runtime: try arguments.value(of: runtime, path),
                    device: try arguments.value(of: device, deviceName), isQR: arguments.options[qr.name] != nil)
            },
            Command(
                name: "check-config", summary: "check the configuration of the page",
                details: [
                    "Checks web.yaml without serving the page. Prints each error with its line,",
                    "its key and the allowed values, or `ok`. Ends with 0 or 1.",
                ],
                options: [web], examples: ["check-config --web web.yaml"]
            ) { arguments throws(CommandLineError) in CheckPageCommand(web: try arguments.value(of: web, path)) },
            Command(
                name: "password", summary: "print the hash of a password",
                details: [
                    "Reads a password from the terminal or standard input, and prints the",
                    "line for a user in web.yaml.",
                ],
                examples: ["password"]
            ) { _ throws(CommandLineError) in PasswordCommand() },
        ])

    private static var path: ScalarRule<String> { .text(bytes: 4095) }

    private static var deviceName: ScalarRule<String> {
        ScalarRule(allowed: DeviceName.allowed) { text throws(Rejection) in
            guard DeviceName.isAllowed(text) else { throw Rejection("is no name of a device") }
            return text
        }
    }
}
