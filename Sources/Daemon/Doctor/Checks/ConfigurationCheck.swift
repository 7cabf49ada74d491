/// Whether the bridge would take the configuration.
enum ConfigurationCheck {
    /// Says what is wrong with it, or what should be known.
    static func finding(_ loaded: Result<LoadedConfiguration, ConfigurationErrors>) -> Finding {
        switch loaded {
        case .failure(let errors):
            Finding(
                .configuration, .failed, "the bridge would not start with \(errors.file)",
                remedies: errors.lines + ["sudoedit \(errors.file)"])
        case .success(let loaded) where loaded.notices.isEmpty:
            Finding(.configuration, .ok, "\(loaded.file) has no error")
        case .success(let loaded):
            Finding(.configuration, .warning, "\(loaded.file) has no error", remedies: loaded.notices)
        }
    }
}
