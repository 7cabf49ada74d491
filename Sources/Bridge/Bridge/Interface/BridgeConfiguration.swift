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

/// A tag of this bridge.
public struct TagEntry: Hashable, Sendable {
    /// When the bridge connects a tag.
    public enum ConnectPolicy: String, Hashable, Sendable, CaseIterable {
        /// Always.
        case always
        /// While a command is pending.
        case onDemand = "on_demand"
        /// Never: commands are rejected as not permitted.
        case never
    }

    /// The tag's name in topics.
    public var id: TagID
    /// The serial printed on the tag, such as `003R`.
    public var serial: String
    /// The name to show instead of the tag's own; nil to show the tag's own.
    public var name: String?
    /// When to connect it.
    public var connect: ConnectPolicy

    /// Creates an entry.
    public init(id: TagID, serial: String, name: String? = nil, connect: ConnectPolicy = .always) {
        self.id = id
        self.serial = serial
        self.name = name
        self.connect = connect
    }
}
