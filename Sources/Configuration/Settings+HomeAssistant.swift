extension Configuration {
    /// What Home Assistant is told about the tags.
    struct HomeAssistant: Hashable, Sendable {
        /// The keys of `home_assistant`.
        enum Key: String, ConfigurationKey {
            case discovery, prefix, form
            case statusTopic = "status_topic"
        }

        /// How a tag is announced.
        enum Form: String, CaseIterable, Sendable {
            /// One message for the whole tag; Home Assistant 2024.11 and later.
            case device
            /// One message for each entity; any release.
            case single
        }

        /// Whether tags are announced at all.
        var discovery = true
        /// Home Assistant's discovery prefix.
        var prefix = "homeassistant"
        /// How they are announced.
        var form = Form.device
        /// Where Home Assistant says that it has started; `<prefix>/status` unless it is configured.
        var statusTopic = "homeassistant/status"
    }
}
