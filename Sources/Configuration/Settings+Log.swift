extension Configuration {
    /// What is logged, and how it looks.
    struct Log: Hashable, Sendable {
        /// The keys of `log`.
        enum Key: String, ConfigurationKey {
            case level, format
        }

        /// The least important message that is still written; the raw values are the words of the file, of
        /// `--log-level` and of `request/log_level`.
        enum Level: String, CaseIterable, Sendable {
            case error, warning, notice, info, debug, trace
        }

        /// How a message is written.
        enum Format: String, CaseIterable, Sendable {
            /// To the journal where standard error is one, else as text.
            case automatic = "auto"
            /// One line of text on standard error.
            case text
            /// One JSON object a line on standard error.
            case json
        }

        /// How much is logged.
        var level = Level.info
        /// In which form.
        var format = Format.automatic
    }
}
