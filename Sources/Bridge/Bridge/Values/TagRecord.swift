public import JSON
public import JacquardProtocol

/// The data of a tag that is kept across restarts.
public struct TagRecord: Equatable, Sendable {
    /// The gear that was last attached.
    public struct Gear: Hashable, Sendable {
        /// The vendor ID, such as `74-a8-ce-54`.
        public var vendorID: String
        /// The product ID, such as `8a-66-50-f4`.
        public var productID: String
        /// The name, such as `Levi's Trucker Jacket`; empty for gear that is not in the catalogue.
        public var name: String

        /// Creates a description of gear.
        public init(vendorID: String, productID: String, name: String) {
            self.vendorID = vendorID
            self.productID = productID
            self.name = name
        }
    }

    /// The last reported battery level.
    public struct Battery: Hashable, Sendable {
        /// Percent.
        public var level: UInt8
        /// Whether it was charging.
        public var isCharging: Bool
        /// When it was reported, in milliseconds since 1970-01-01T00:00:00Z.
        public var unixMilliseconds: Int64

        /// Creates a battery level.
        public init(level: UInt8, isCharging: Bool, unixMilliseconds: Int64) {
            self.level = level
            self.isCharging = isCharging
            self.unixMilliseconds = unixMilliseconds
        }
    }

    /// The last published presence.
    public struct Presence: Hashable, Sendable {
        /// `here`, `asleep`, `gone` or `unknown`.
        public var state: String
        /// When it began, in milliseconds since 1970-01-01T00:00:00Z.
        public var unixMilliseconds: Int64

        /// Creates a presence.
        public init(state: String, unixMilliseconds: Int64) {
            self.state = state
            self.unixMilliseconds = unixMilliseconds
        }
    }

    /// What the LED plays on when the bridge stops.
    public struct Light: Hashable, Sendable {
        /// The parts of the colour before scaling, 0 to 255.
        public var red, green, blue: UInt8
        /// 1 to 255.
        public var brightness: UInt8
        /// The name of the effect or pattern that the sender used.
        public var effect: String
        /// When it ends, in milliseconds since 1970-01-01T00:00:00Z.
        public var endUnixMilliseconds: Int64

        /// Creates the state of an LED.
        public init(
            red: UInt8, green: UInt8, blue: UInt8, brightness: UInt8, effect: String, endUnixMilliseconds: Int64
        ) {
            (self.red, self.green, self.blue) = (red, green, blue)
            (self.brightness, self.effect) = (brightness, effect)
            self.endUnixMilliseconds = endUnixMilliseconds
        }
    }

    /// The tag's name in topics.
    public var id: TagID
    /// The serial printed on it.
    public var serial: String
    /// The Bluetooth address of the last connection; nil before the first.
    public var address: String?
    /// The tag's own name; nil until it is reported.
    public var name: ExactText?
    /// Whether the user has disconnected it, until `connect`.
    public var isHeld: Bool
    /// The gear that was last attached; nil if there was none.
    public var lastGear: Gear?
    /// The last battery level; nil if unknown.
    public var battery: Battery?
    /// The earlier battery levels.
    public var history: BatteryHistory
    /// Whether the tag was near; nil while that is not configured.
    public var presence: Presence?
    /// Whether `T/radios` was published.
    public var hasRadios = false
    /// What the tag's LED plays; nil if it is off, and while the bridge runs.
    public var light: Light?
    /// What features keep, by their keys; see ``FeatureTable/storedKeys``.
    public var features: [String: JSONValue] = [:]

    /// Creates a record.
    public init(
        id: TagID,
        serial: String,
        address: String? = nil,
        name: ExactText? = nil,
        isHeld: Bool = false,
        lastGear: Gear? = nil,
        battery: Battery? = nil,
        history: BatteryHistory = BatteryHistory(),
        presence: Presence? = nil,
        hasRadios: Bool = false,
        light: Light? = nil,
        features: [String: JSONValue] = [:]
    ) {
        self.id = id
        self.serial = serial
        self.address = address
        self.name = name
        self.isHeld = isHeld
        self.lastGear = lastGear
        self.battery = battery
        self.history = history
        self.presence = presence
        self.hasRadios = hasRadios
        self.light = light
        self.features = features
    }
}
