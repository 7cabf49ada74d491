/// What is kept of a tag over a restart.
public struct TagRecord: Hashable, Sendable {
    /// The gear that a tag was last clipped into.
    public struct Gear: Hashable, Sendable {
        /// The vendor's number, such as `74-a8-ce-54`.
        public var vendorID: String
        /// The product's number, such as `8a-66-50-f4`.
        public var productID: String
        /// What people call it, such as `Levi's Trucker Jacket`; empty for gear that nobody knows.
        public var name: String

        /// Describes gear.
        public init(vendorID: String, productID: String, name: String) {
            self.vendorID = vendorID
            self.productID = productID
            self.name = name
        }
    }

    /// The battery as a tag reported it last.
    public struct Battery: Hashable, Sendable {
        /// Percent.
        public var level: UInt8
        /// Whether it was charging.
        public var isCharging: Bool
        /// When that was reported, in milliseconds since 1970-01-01T00:00:00Z.
        public var unixMilliseconds: Int64

        /// Describes a battery.
        public init(level: UInt8, isCharging: Bool, unixMilliseconds: Int64) {
            self.level = level
            self.isCharging = isCharging
            self.unixMilliseconds = unixMilliseconds
        }
    }

    /// The tag in topics.
    public var id: TagID
    /// The serial printed on it.
    public var serial: String
    /// The Bluetooth address at which it was connected last; nil when it never was.
    public var address: String?
    /// The tag's own name; nil when it has not told one.
    public var name: String?
    /// Whether the user has disconnected it, until `connect`.
    public var isHeld: Bool
    /// The gear it was last clipped into; nil when it never was.
    public var lastGear: Gear?
    /// The last battery; nil when it was never known.
    public var battery: Battery?

    /// Describes a tag.
    public init(
        id: TagID,
        serial: String,
        address: String? = nil,
        name: String? = nil,
        isHeld: Bool = false,
        lastGear: Gear? = nil,
        battery: Battery? = nil
    ) {
        self.id = id
        self.serial = serial
        self.address = address
        self.name = name
        self.isHeld = isHeld
        self.lastGear = lastGear
        self.battery = battery
    }
}
