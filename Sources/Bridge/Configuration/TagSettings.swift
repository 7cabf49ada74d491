public import Bridge
public import JacquardProtocol

/// One tag of the list `tags`.
public struct TagSettings: Hashable, Sendable {
    /// The pairing serial as it is printed on the tag: four of `0-9 A-Z a-z -`. `0001` stays `0001`.
    public var serial: String
    /// The tag's name in topics: 1 to 64 of `0-9 A-Z a-z _ -`; by default the serial.
    public var id: TagID
    /// The displayed name; nil: the tag's own name.
    public var name: String?
    /// The address, such as `F0:00:00:00:00:01`, upper case; nil: the tag is found by its serial.
    public var address: String?
    /// When to connect.
    public var connect = TagEntry.ConnectPolicy.always

    /// Creates the settings of a tag.
    public init(
        serial: String, id: TagID, name: String? = nil, address: String? = nil,
        connect: TagEntry.ConnectPolicy = .always
    ) {
        self.serial = serial
        self.id = id
        self.name = name
        self.address = address
        self.connect = connect
    }
}

extension TagSettings {
    /// Returns whether all keys have the same values. Texts are compared as bytes.
    public static func == (left: TagSettings, right: TagSettings) -> Bool {
        keys.allSatisfy { $0.isEqual(left, right) }
    }

    /// Hashes what usually differs.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }

    /// The row of `tags`.
    static var list: ConfigurationKey<Settings> {
        .list(
            "tags", \.tags, of: keys, .tags,
            "Tags with a fixed id, name or policy. Tags that are paired by command need no entry here.",
            empty: TagSettings(serial: "", id: "-"),
            check: { items, _, findings in TagListCheck.usable(items, &findings) }
        ).option("Tags", "Tags with a fixed id, name or policy. Paired tags need no entry")
    }

    /// The rows of an item.
    private static var keys: [ConfigurationKey<TagSettings>] {
        [
            // A number without quotes in the supervisor's YAML editor loses its zeros at the start. Therefore an option of fewer than
            // four characters is an error.
            ConfigurationKey(
                "serial", \.serial, .serial, .tags,
                """
                The last four characters of the serial number printed on the tag, before the last hyphen, or the \
                whole number. 0001 stays 0001.
                """
            ).example(
                "003R",
                comment: """
                    The last four characters of the serial number printed on the tag, before the last hyphen, or the \
                    whole number. Required.
                    """
            ).option(
                "Serial", "The last four characters before the last hyphen of the number printed on the tag",
                form: "match(^([0-9A-Za-z]{4}|[0-9A-Za-z]+(-[0-9A-Za-z]+)+)$)"
            ).required("the serial printed on the tag"),
            ConfigurationKey(
                "id", \.id, .ownTagID, .tags, "The tag's name in topics. Default: the serial."
            ).example(
                "sleeve", comment: "The tag's name in topics, 1 to 64 of 0-9 A-Z a-z _ -, not all. Default: the serial."
            ).option("ID", "The tag's name in topics. Default: the serial").defaulting {
                if let id = TagID($0.serial) { $0.id = id }
            },
            ConfigurationKey(
                "name", \.name, .text(bytes: 128), .tags,
                "The displayed name; the tag itself is not renamed. Default: the tag's own name."
            ).example("Left sleeve").option("Name", "The displayed name. Default: the tag's own name"),
            ConfigurationKey(
                "address", \.address, .address, .tags,
                "The tag's Bluetooth address. Default: the tag is found by its serial."
            ).example("F0:00:00:00:00:01").option("Bluetooth address", "Default: the tag is found by its serial"),
            ConfigurationKey(
                "connect", \.connect, .choice, .tags, "on_demand: connected while a command needs it."
            ).example(comment: "always, on_demand (connected while a command needs it), never.").option(
                "Connect", "on_demand: connected while a command needs it"),
        ]
    }
}
