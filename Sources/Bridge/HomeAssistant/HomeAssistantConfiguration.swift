/// How the tags are announced to Home Assistant.
public struct HomeAssistantConfiguration: Hashable, Sendable {
    /// The two forms of MQTT discovery.
    public enum Form: Hashable, Sendable, CaseIterable {
        /// One message for a whole device; Home Assistant 2024.11 and later.
        case device
        /// One message for each entity and each trigger; any release.
        case single
    }

    /// Home Assistant's discovery prefix; may have several levels.
    public var prefix: String
    /// The form.
    public var form: Form
    /// Where Home Assistant says `online` when it has started.
    public var statusTopic: String

    /// Takes the decisions; the defaults are those of Home Assistant.
    public init(
        prefix: String = "homeassistant", form: Form = .device, statusTopic: String = "homeassistant/status"
    ) {
        self.prefix = prefix
        self.form = form
        self.statusTopic = statusTopic
    }
}
