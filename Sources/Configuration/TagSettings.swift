/// One tag of the configuration's list.
public struct TagSettings: Hashable, Sendable {
    /// The keys of an item of `tags`.
    enum Key: String, ConfigurationKey {
        case serial, id, name, address, connect
    }

    /// When the bridge connects the tag.
    public enum ConnectPolicy: String, CaseIterable, Sendable {
        /// Whenever it is in reach.
        case always
        /// When a command asks for it.
        case onDemand = "on_demand"
        /// Never; its topics stay as they are.
        case never
    }

    /// The pairing serial as it is printed on the tag: 1 to 32 of `0-9 A-Z a-z -`. `0001` stays `0001`.
    public var serial: String
    /// What the tag is called in topics: 1 to 64 of `0-9 A-Z a-z _ -`; the serial unless it is configured.
    public var id: String
    /// What people are shown; nil: the tag's own name.
    public var name: String?
    /// Where the tag is, such as `F0:00:00:00:00:01`, upper case; nil: found by its serial.
    public var address: String?
    /// When to connect.
    public var connect = ConnectPolicy.always

    /// Creates the settings of a tag.
    public init(
        serial: String, id: String, name: String? = nil, address: String? = nil, connect: ConnectPolicy = .always
    ) {
        self.serial = serial
        self.id = id
        self.name = name
        self.address = address
        self.connect = connect
    }
}
