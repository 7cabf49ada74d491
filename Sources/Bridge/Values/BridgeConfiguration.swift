/// What the user has decided, as far as it shapes topics and payloads.
public struct BridgeConfiguration: Hashable, Sendable {
    /// The topic above all others, `jacquard` unless configured; may have several levels.
    public var baseTopic: String
    /// The bridge's name in topics, `[a-z0-9-]{1,32}`.
    public var instance: String
    /// The version of the program, such as `0.1.0`.
    public var version: String
    /// The tags of this bridge; an id that occurs twice counts once, the first time.
    public var tags: [TagEntry]
    /// How long an LED is on when nobody said how long (`defaults.led_on_s`).
    public var ledOn: Duration
    /// How long a gesture may wait for the broker (`limits.gestures_while_broker_away_s`).
    public var gestureLifetime: Duration
    /// How many commands of one tag may be pending (`limits.commands_per_tag`).
    public var commandsPerTag: Int
    /// How the tags are announced to Home Assistant; nil: not at all.
    public var homeAssistant: HomeAssistantConfiguration?
    /// Home Assistant's discovery prefix where nothing is announced: no result is published there either.
    public var discoveryPrefix: String

    /// Takes the decisions; the defaults are those of the contract.
    public init(
        baseTopic: String = "jacquard",
        instance: String,
        version: String,
        tags: [TagEntry],
        ledOn: Duration = .seconds(10),
        gestureLifetime: Duration = .seconds(5),
        commandsPerTag: Int = 32,
        homeAssistant: HomeAssistantConfiguration? = nil,
        discoveryPrefix: String = "homeassistant"
    ) {
        self.baseTopic = baseTopic
        self.instance = instance
        self.version = version
        self.tags = tags
        self.ledOn = ledOn
        self.gestureLifetime = gestureLifetime
        self.commandsPerTag = commandsPerTag
        self.homeAssistant = homeAssistant
        self.discoveryPrefix = discoveryPrefix
    }
}

/// A tag that the bridge is responsible for.
public struct TagEntry: Hashable, Sendable {
    /// When the bridge connects a tag.
    public enum ConnectPolicy: Hashable, Sendable, CaseIterable {
        /// All the time.
        case always
        /// While there is something to do.
        case onDemand
        /// Not at all: commands are refused as not permitted.
        case never
    }

    /// The tag in topics.
    public var id: TagID
    /// The serial printed on the tag, such as `003R`.
    public var serial: String
    /// The name to show instead of the tag's own; nil to show that.
    public var name: String?
    /// When to connect it.
    public var connect: ConnectPolicy

    /// Describes a tag.
    public init(id: TagID, serial: String, name: String? = nil, connect: ConnectPolicy = .always) {
        self.id = id
        self.serial = serial
        self.name = name
        self.connect = connect
    }
}
