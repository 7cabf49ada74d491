import Bridge
import Configuration
import Text

/// The source of a running bridge's configuration, which is the same at every reload.
struct ConfigurationSource: Sendable {
    /// The file of `--config`; nil: the default search path.
    let path: String?
    /// The level of `--log-level`, which overrides that of the file; nil if not given.
    let logLevel: LogLevel?
    /// The environment variables of the process.
    let environment: [String: String]

    /// Reads the configuration. Blocks while the file is read.
    ///
    /// - Returns: the configuration, or all errors in it.
    func load() -> Result<LoadedConfiguration, ConfigurationErrors> {
        ConfigurationFile.load(
            path: path, environment: environment, reflexProblem: ReflexRequest.problem(with:)
        ).map { loaded in
            guard let logLevel else { return loaded }
            var result = loaded
            result.configuration.log.level = logLevel
            return result
        }
    }
}
