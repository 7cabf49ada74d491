/// One tag of the configuration's list.
struct TagConfiguration: Hashable, Sendable {
    /// The keys of an item of `tags`.
    enum Key: String, ConfigurationKey {
        case serial, id, name, address, connect
    }

    /// When the bridge connects the tag.
    enum ConnectPolicy: String, CaseIterable, Sendable {
        /// Whenever it is in reach.
        case always
        /// When a command asks for it.
        case onDemand = "on_demand"
        /// Never; its topics stay as they are.
        case never
    }

    /// The pairing serial as it is printed on the tag: 1 to 32 of `0-9 A-Z a-z -`. `0001` stays `0001`.
    var serial: String
    /// What the tag is called in topics: 1 to 64 of `0-9 A-Z a-z _ -`; the serial unless it is configured.
    var id: String
    /// What people are shown; nil: the tag's own name.
    var name: String?
    /// Where the tag is, such as `F0:00:00:00:00:01`, upper case; nil: found by its serial.
    var address: String?
    /// When to connect.
    var connect = ConnectPolicy.always
}
