public import HomeAssistant
public import JacquardProtocol

/// The settings that affect topics and payloads.
public struct BridgeConfiguration: Equatable, Sendable {
    /// The prefix of all topics, `jacquard` by default; may have several levels.
    public var baseTopic: String
    /// The bridge's name in topics, `[a-z0-9-]{1,32}`.
    public var instance: String
    /// The bridge's client identifier at the broker.
    public var clientID: String
    /// The version of the program, such as `0.1.0`.
    public var version: String
    /// The configured tags; for a repeated id, the first entry counts.
    public var tags: [TagEntry]
    /// The tags of each group (`groups`).
    public var groups: [String: [TagID]]
    /// The reflexes, in the order in which those of one event give their commands (`reflexes`).
    public var reflexes: [Reflex]
    /// The settings of Home Assistant discovery; nil if it is off.
    public var homeAssistant: HomeAssistantConfiguration?
    /// The names of several radios (`bluetooth.radios`); empty if there is one radio.
    public var radios: [String]
    /// Home Assistant's discovery prefix. Set even if discovery is off, because results are never published below it.
    public var discoveryPrefix: String

    /// The settings that the configuration has in the same form.
    public var options: BridgeOptions

    /// Creates the settings; the defaults are those of the contract.
    public init(
        baseTopic: String = "jacquard",
        instance: String,
        clientID: String? = nil,
        version: String,
        tags: [TagEntry],
        groups: [String: [TagID]] = [:],
        reflexes: [Reflex] = [],
        homeAssistant: HomeAssistantConfiguration? = nil,
        discoveryPrefix: String = "homeassistant",
        radios: [String] = [],
        options: BridgeOptions = BridgeOptions()
    ) {
        self.baseTopic = baseTopic
        self.instance = instance
        self.clientID = clientID ?? "jacquard-\(instance)"
        self.version = version
        self.tags = tags
        self.groups = groups
        self.reflexes = reflexes
        self.homeAssistant = homeAssistant
        self.discoveryPrefix = discoveryPrefix
        self.radios = radios
        self.options = options
    }

    /// Home Assistant's discovery prefix, if announcements have the device form.
    var deviceFormPrefix: String? { homeAssistant.flatMap { $0.form == .device ? $0.prefix : nil } }
}
