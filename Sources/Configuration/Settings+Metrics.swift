extension Configuration {
    /// Numbers for a monitoring system.
    struct Metrics: Hashable, Sendable {
        /// The keys of `metrics`.
        enum Key: String, ConfigurationKey {
            case file
            case interval = "interval_s"
        }

        /// Where they are written, for the textfile collector of node_exporter, which reads `*.prom`; nil: nowhere.
        var file: String?
        /// From one writing to the next.
        var interval: Duration = .seconds(30)
    }
}
