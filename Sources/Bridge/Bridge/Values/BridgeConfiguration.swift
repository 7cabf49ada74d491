public import HomeAssistant
public import JacquardProtocol

/// The settings that affect topics and payloads.
public struct BridgeConfiguration: Equatable, Sendable {
    /// The prefix of all topics, `jacquard` by default; may have several levels.
    public var baseTopic: String
    /// The bridge's name in topics, `[a-z0-9-]{1,32}`.
    public var instance: String
    /// The version of the program, such as `0.1.0`.
    public var version: String
    /// The configured tags; for a repeated id, the first entry counts.
    public var tags: [TagEntry]
    /// The default duration of an LED command (`defaults.led_on_s`).
    public var ledOn: Duration
    /// How long a gesture is queued while the broker is away (`limits.gestures_while_broker_away_s`).
    public var gestureLifetime: Duration
    /// The tags of each group (`groups`).
    public var groups: [String: [TagID]]
    /// The chords, in the order in which those of one gesture are published (`chords`).
    public var chords: [Chord]
    /// The reflexes, in the order in which those of one event give their commands (`reflexes`).
    public var reflexes: [Reflex]
    /// Maximum number of pending commands per tag (`limits.commands_per_tag`).
    public var commandsPerTag: Int
    /// Whether gestures have a `traceparent` (`telemetry.trace`).
    public var isTracing: Bool
    /// The settings of Home Assistant discovery; nil if it is off.
    public var homeAssistant: HomeAssistantConfiguration?
    /// Whether to publish beats and watch other bridges (`fleet.watch`).
    public var watchesFleet: Bool
    /// The names of several radios (`bluetooth.radios`); empty if there is one radio.
    public var radios: [String]
    /// How long a tag stays available after its link was lost (`defaults.offline_after_s`).
    public var offlineAfter: Duration
    /// Whether raw data of tags may be read and written (`raw`).
    public var allowsRawData: Bool
    /// The settings of motion data (`imu`).
    public var motion: MotionConfiguration
    /// How long a tag may be silent after its link was lost before it is gone (`presence.away_after_s`); nil while presence
    /// is off.
    public var awayAfter: Duration?
    /// The configured signals of `notify/set` (`signals`).
    public var signals: [Signal]
    /// After which time without a touch the touch mode `slide` ends (`slide.idle_min`); nil while it is disabled.
    public var slideIdle: Duration?
    /// Home Assistant's discovery prefix. Set even if discovery is off, because results are never published below it.
    public var discoveryPrefix: String

    /// Creates the settings; the defaults are those of the contract.
    public init(
        baseTopic: String = "jacquard",
        instance: String,
        version: String,
        tags: [TagEntry],
        ledOn: Duration = .seconds(10),
        gestureLifetime: Duration = .seconds(5),
        commandsPerTag: Int = 32,
        groups: [String: [TagID]] = [:],
        chords: [Chord] = [],
        reflexes: [Reflex] = [],
        isTracing: Bool = false,
        homeAssistant: HomeAssistantConfiguration? = nil,
        discoveryPrefix: String = "homeassistant",
        watchesFleet: Bool = false,
        radios: [String] = [],
        offlineAfter: Duration = .zero,
        allowsRawData: Bool = false,
        motion: MotionConfiguration = MotionConfiguration(),
        awayAfter: Duration? = nil,
        signals: [Signal] = [],
        slideIdle: Duration? = nil
    ) {
        self.slideIdle = slideIdle
        self.radios = radios
        self.offlineAfter = offlineAfter
        self.baseTopic = baseTopic
        self.instance = instance
        self.version = version
        self.tags = tags
        self.ledOn = ledOn
        self.gestureLifetime = gestureLifetime
        self.commandsPerTag = commandsPerTag
        self.groups = groups
        self.chords = chords
        self.reflexes = reflexes
        self.isTracing = isTracing
        self.homeAssistant = homeAssistant
        self.discoveryPrefix = discoveryPrefix
        self.watchesFleet = watchesFleet
        self.allowsRawData = allowsRawData
        self.motion = motion
        self.awayAfter = awayAfter
        self.signals = signals
    }
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
