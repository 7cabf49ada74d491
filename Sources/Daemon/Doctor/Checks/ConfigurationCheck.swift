import Configuration

/// Whether the bridge would take the configuration.
enum ConfigurationCheck {
    /// Says what is wrong with it, or what should be known.
    static func finding(_ loaded: Result<LoadedConfiguration, ConfigurationErrors>) -> Finding {
        switch loaded {
        case .failure(let errors):
            Finding(
                .configuration, .failed, "the bridge would not start with \(errors.file)",
                remedies: errors.lines + ["sudoedit \(errors.file)"])
        case .success(let loaded):
            Finding(
                .configuration, loaded.notices.isEmpty ? .ok : .warning,
                (["\(loaded.file) has no error"] + loaded.notices).joined(separator: "; "))
        }
    }
}
