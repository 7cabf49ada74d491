import Configuration

/// Where the configuration of a running bridge comes from: the same every time it is read.
struct ConfigurationSource: Sendable {
    /// The file of `--config`; nil: wherever the bridge looks.
    let path: String?
    /// The level of `--log-level`, which wins over that of the file; nil: the file's.
    let logLevel: Settings.Log.Level?
    /// All variables of the process.
    let environment: [String: String]

    /// Reads it. Blocks for as long as the file does.
    ///
    /// - Returns: the configuration, or everything that is wrong with it.
    func load() -> Result<LoadedConfiguration, ConfigurationErrors> {
        ConfigurationFile.load(path: path, environment: environment).map { loaded in
            guard let logLevel else { return loaded }
            var result = loaded
            result.configuration.log.level = logLevel
            return result
        }
    }
}
