/// What the user has decided: the configuration file and the environment, read, checked and completed by defaults.
///
/// Holds no type of another module; whoever builds the parts translates. Source of keys and defaults: the Operations
/// article and `config/jacquard2mqtt.yaml`.
struct Configuration: Hashable, Sendable {
    /// The keys at the top of the file.
    enum Key: String, ConfigurationKey {
        case instance, mqtt, bluetooth
        case homeAssistant = "home_assistant"
        case tags, gear, log, defaults, limits, metrics
    }

    /// The bridge's name in topics: `[a-z0-9-]{1,32}`; by default made of the host's name.
    var instance: String
    /// The broker.
    var mqtt: MQTT
    /// The radio.
    var bluetooth = Bluetooth()
    /// What Home Assistant is told.
    var homeAssistant = HomeAssistant()
    /// Tags with a fixed id, name or policy; tags paired by command are known too.
    var tags: [TagConfiguration] = []
    /// Gear that the built-in catalogue does not contain, or describes differently.
    var gear: [GearConfiguration] = []
    /// What is logged, and how it looks.
    var log = Log()
    /// What a command means that leaves something open.
    var defaults = Defaults()
    /// How much may pile up.
    var limits = Limits()
    /// Numbers for a monitoring system.
    var metrics = Metrics()
}
