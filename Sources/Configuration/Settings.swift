/// What the user has decided: the configuration file and the environment, read, checked and completed by defaults.
///
/// Contains no type of another module; the modules that use it translate. Source of keys and defaults: the Operations
/// article and `config/jacquard2mqtt.yaml`.
public struct Settings: Hashable, Sendable {
    /// The keys at the top of the file.
    enum Key: String, ConfigurationKey {
        case instance, mqtt, bluetooth
        case homeAssistant = "home_assistant"
        case tags, gear, log, defaults, limits, metrics
    }

    /// The bridge's name in topics: `[a-z0-9-]{1,32}`; by default made of the host's name.
    public var instance: String
    /// The broker.
    public var mqtt: MQTT
    /// The radio.
    public var bluetooth = Bluetooth()
    /// MQTT discovery.
    public var homeAssistant = HomeAssistant()
    /// Tags with a fixed id, name or policy; tags paired by command are known too.
    public var tags: [TagSettings] = []
    /// Gear that the built-in catalogue does not contain, or describes differently.
    public var gear: [GearSettings] = []
    /// What is logged, and how it looks.
    public var log = Log()
    /// What a command means that leaves something open.
    public var defaults = Defaults()
    /// How much may pile up.
    public var limits = Limits()
    /// Numbers for a monitoring system.
    public var metrics = Metrics()
}

extension Settings {
    /// What is allowed but should be known: one sentence each, said at every start and by `check-config`.
    public var notices: [String] {
        var notices: [String] = []
        if mqtt.tls?.isInsecure == true {
            notices.append(
                "mqtt.tls.insecure is true: the broker's certificate does not have to match its name")
        }
        if mqtt.password != nil, mqtt.username == nil {
            notices.append("mqtt.password is set without mqtt.username: a broker that speaks 3.1.1 never sees it")
        }
        if tags.isEmpty {
            notices.append("tags is empty: only tags that were paired by command are connected")
        }
        return notices
    }
}
