public import CommandLine
import Configuration
import Text

extension OptionDescription {
    /// `--config`, the configuration file; every command takes it.
    public static let config = OptionDescription(
        name: "--config",
        value: "FILE",
        completion: .file(["yaml", "yml"]),
        details: [
            "The configuration file. Default: $JACQUARD2MQTT_CONFIG, else",
            "\(ConfigurationFile.defaultPath); the latter may be missing.",
        ])

    /// `--state`, the folder of the known tags.
    public static let state = OptionDescription(
        name: "--state",
        value: "DIR",
        completion: .folder,
        details: [
            "The folder for the known tags. Default:",
            "$STATE_DIRECTORY, else \(StatePath.standard).",
        ])
}

/// The options that all commands take, except `run`.
public struct ClientOptions: Hashable, Sendable {
    /// The value of `--config`; nil: the default search path.
    public var config: String?
    /// Whether the command prints JSON.
    public var isJSON: Bool
    /// When to colour the output.
    public var color: ColorChoice

    /// Creates options.
    public init(config: String? = nil, isJSON: Bool = false, color: ColorChoice = .automatic) {
        self.config = config
        self.isJSON = isJSON
        self.color = color
    }

    /// Reads the options of a command line.
    ///
    /// - Throws: `CommandLineError` for another word than those of `--color`.
    public init(_ arguments: ParsedArguments) throws(CommandLineError) {
        self.init(
            config: arguments.options[OptionDescription.config.name],
            isJSON: arguments.options[OptionDescription.json.name] != nil,
            color: try arguments.value(of: .color, .choice) ?? .automatic)
    }
}
