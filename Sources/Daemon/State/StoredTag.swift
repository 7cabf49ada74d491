/// What the bridge remembers of a tag over a restart, as it stands in `tags.json`.
struct StoredTag: Codable, Hashable, Sendable {
    /// The pairing serial.
    var serial: String
    /// The tag in topics.
    var id: String
    /// The address at which it was last connected; nil before the first connection.
    var address: String?
    /// Its own name; nil until it has told one.
    var name: String?
    /// Whether somebody has disconnected it until further notice.
    var held: Bool
    /// Whether it was paired by command: such a tag is known although no configuration lists it.
    var paired: Bool
    /// The product number of the gear that was last attached; nil for none.
    var lastGear: String?

    enum CodingKeys: String, CodingKey {
        case serial, id, address, name, held, paired
        case lastGear = "last_gear"
    }
}

/// The whole of `tags.json`.
struct StoredTags: Codable, Hashable, Sendable {
    /// The version of the format.
    static let version = 1

    /// Who wrote it: a file of a later version is not touched.
    var version = Self.version
    /// All of them, by id.
    var tags: [StoredTag] = []
}
