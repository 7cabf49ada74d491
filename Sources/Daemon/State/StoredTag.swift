import Bridge

/// What the bridge remembers of a tag over a restart, as it stands in `tags.json`.
struct StoredTag: Codable, Hashable, Sendable {
    /// The gear that a tag was last clipped into.
    struct Gear: Codable, Hashable, Sendable {
        var vendorID: String
        var productID: String
        var name: String

        enum CodingKeys: String, CodingKey {
            case vendorID = "vendor_id"
            case productID = "product_id"
            case name
        }
    }

    /// The pairing serial.
    var serial: String
    /// The tag in topics.
    var id: String
    /// The address at which it was last; nil when it was never seen.
    var address: String?
    /// Its own name; nil until it has told one.
    var name: String?
    /// Whether somebody has disconnected it until further notice.
    var held: Bool
    /// Whether it was paired by command: such a tag is known although no configuration lists it.
    var paired: Bool
    /// Nil when it never was in any.
    var lastGear: Gear?

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

extension StoredTag {
    /// What the bridge wants kept.
    init(_ record: TagRecord, isPaired: Bool) {
        self.init(
            serial: record.serial,
            id: record.id.text,
            address: record.address,
            name: record.name,
            held: record.isHeld,
            paired: isPaired,
            lastGear: record.lastGear.map { Gear(vendorID: $0.vendorID, productID: $0.productID, name: $0.name) })
    }

    /// What the bridge had kept; nil where the file was edited to something that is no id.
    var record: TagRecord? {
        TagID(id).map { id in
            TagRecord(
                id: id,
                serial: serial,
                address: address,
                name: name,
                isHeld: held,
                lastGear: lastGear.map {
                    TagRecord.Gear(vendorID: $0.vendorID, productID: $0.productID, name: $0.name)
                })
        }
    }
}
