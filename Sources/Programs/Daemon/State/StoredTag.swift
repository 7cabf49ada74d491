import Bridge
import Configuration
import JSON
import JacquardProtocol

/// A tag in `tags.json`.
struct StoredTag: Hashable, Sendable {
    /// The tag of a record. The configuration may give the id of one tag to another one, and change the id of a tag.
    struct Key: Hashable, Comparable, Sendable {
        let id: TagID
        let serial: String

        init(id: TagID, serial: String) {
            (self.id, self.serial) = (id, serial)
        }

        /// The key of the record of a tag.
        init(_ entry: TagEntry) {
            self.init(id: entry.id, serial: entry.serial)
        }

        static func < (left: Key, right: Key) -> Bool {
            left.id == right.id ? left.serial < right.serial : left.id < right.id
        }
    }

    /// The gear that was last attached.
    struct Gear: Hashable, Sendable {
        var vendorID: String
        var productID: String
        var name: String
    }

    /// The last reported battery level.
    struct Battery: Hashable, Sendable {
        var level: UInt8
        var charging: Bool
        /// Milliseconds since 1970-01-01T00:00:00Z.
        var time: Int64
    }

    /// The last published presence.
    struct Presence: Hashable, Sendable {
        var state: String
        /// Milliseconds since 1970-01-01T00:00:00Z.
        var since: Int64
    }

    /// What the LED plays on while the bridge is stopped.
    struct Light: Hashable, Sendable {
        var red, green, blue: UInt8
        var brightness: UInt8
        var effect: String
        /// Milliseconds since 1970-01-01T00:00:00Z.
        var end: Int64
    }

    /// The pairing serial.
    var serial: String
    /// The tag's name in topics.
    var id: TagID
    /// The last known address; nil if unknown.
    var address: String?
    /// Its own name; nil until the tag has reported one.
    var name: ExactText?
    /// Whether the user has disconnected it, until `connect`.
    var held: Bool
    /// Whether it was paired by command. Such a tag is known even if the configuration does not list it.
    var paired: Bool
    /// nil if it was never attached to gear.
    var lastGear: Gear?
    /// nil if unknown.
    var battery: Battery?
    /// nil while presence is not configured.
    var presence: Presence?
    /// true if its receptions by several radios were published; otherwise nil.
    var radios: Bool?
    /// The address of the link that the bridge has with it; nil if there is none. Another process uses or ends the link that a
    /// killed one has left.
    var link: String?
    /// true while gear is attached; otherwise nil. On the link of a killed process, a tag may not report it to the next one.
    var attached: Bool?
    /// nil if the LED is off, and while the bridge runs.
    var light: Light?
    /// What features keep, by their keys.
    var features: [String: JSONValue] = [:]

    /// Its tag.
    var key: Key { Key(id: id, serial: serial) }

    /// Whether two records may be of the same tag: two tags with one serial have different addresses.
    func isOfSameTag(as other: StoredTag) -> Bool {
        serial == other.serial && (address == other.address || address == nil || other.address == nil)
    }

    /// The tags that were paired by command, each once, and with different ids.
    static func paired(among stored: some Sequence<StoredTag>) -> [StoredTag] {
        stored.filter(\.paired).sorted { $0.key < $1.key }.reduce(into: []) { tags, tag in
            if !tags.contains(where: { $0.id == tag.id || $0.isOfSameTag(as: tag) }) { tags.append(tag) }
        }
    }
}

/// The contents of `tags.json`.
struct StoredTags: Hashable, Sendable {
    /// The version of the format.
    static let version = 1

    /// A file with a later version is not read or overwritten.
    var version = Self.version
    /// The tags, sorted by id and serial.
    var tags: [StoredTag] = []
}

// MARK: Writing, and reading; nil for what no release has written

extension StoredTags: JSONRecord {
    func addMembers(to object: inout JSONWriter) {
        object.add("tags", tags)
        object.add("version", version)
    }

    /// The version of any release's file.
    static func version(of document: JSONValue) -> Int? {
        document["version"]?.integer.flatMap { Int(exactly: $0) }
    }

    /// Reads a file of this version: the valid records, and a description of each damaged one.
    static func read(_ document: JSONValue) -> (tags: [StoredTag], damaged: [DamagedState.Record])? {
        guard let elements = document["tags"]?.elements else { return nil }
        var (tags, damaged): ([StoredTag], [DamagedState.Record]) = ([], [])
        var keys: Set<StoredTag.Key> = []
        for (number, element) in elements.enumerated() {
            do throws(StoredTag.Damage) {
                let tag = try StoredTag(element)
                guard keys.insert(tag.key).inserted else {
                    throw StoredTag.Damage("its id and its serial are those of another record")
                }
                tags.append(tag)
            } catch {
                let serial = element["serial"]?.string
                let name = (element["id"]?.string.flatMap { TagID($0) }?.text ?? serial).map { $0.prefix(64) }
                damaged.append(
                    DamagedState.Record(
                        name: name.map(String.init) ?? "number \(number + 1)", serial: serial, reason: error.reason))
            }
        }
        return (tags, damaged)
    }
}

extension StoredTag: JSONRecord {
    func addMembers(to object: inout JSONWriter) {
        object.addIfPresent("address", address)
        object.addIfPresent("attached", attached)
        object.addIfPresent("battery", battery)
        object.add("held", held)
        object.add("id", id.text)
        object.addIfPresent("last_gear", lastGear)
        object.addIfPresent("light", light)
        object.addIfPresent("link", link)
        object.addIfPresent("name", name?.text)
        object.add("paired", paired)
        object.addIfPresent("presence", presence)
        object.addIfPresent("radios", radios)
        object.add("serial", serial)
        object.add(members: features)
    }

    /// A record that no release has written.
    fileprivate struct Damage: Error {
        /// A clause such as `held is missing`.
        let reason: String

        init(_ reason: String) {
            self.reason = reason
        }
    }

    fileprivate init(_ document: JSONValue) throws(Damage) {
        guard document.members != nil else { throw Damage("it is not an object") }
        guard let serial = document["serial"]?.string else { throw Damage("serial is missing or not a string") }
        guard let id = document["id"]?.string.flatMap({ TagID($0) }) else {
            throw Damage("id is missing or not allowed in a topic")
        }
        guard let held = document["held"]?.flag else { throw Damage("held is missing or neither true nor false") }
        guard let paired = document["paired"]?.flag else { throw Damage("paired is missing or neither true nor false") }
        self.init(
            serial: serial, id: id, address: document["address"]?.string,
            name: document["name"]?.string.map { ExactText($0) }, held: held, paired: paired,
            lastGear: document["last_gear"].flatMap { Gear($0) },
            battery: document["battery"].flatMap { Battery($0) },
            presence: document["presence"].flatMap { Presence($0) },
            radios: document["radios"]?.flag,
            link: document["link"]?.string, attached: document["attached"]?.flag,
            light: document["light"].flatMap { Light($0) },
            features: Dictionary(FeatureTable.storedKeys.compactMap { key in document[key].map { (key, $0) } }) { $1 })
    }
}

extension StoredTag.Battery: JSONRecord {
    func addMembers(to object: inout JSONWriter) {
        object.add("charging", charging)
        object.add("level", level)
        object.add("time_ms", time)
    }

    fileprivate init?(_ document: JSONValue) {
        guard let level = document["level"]?.integer, (0...100).contains(level),
            let charging = document["charging"]?.flag, let time = document["time_ms"]?.integer
        else { return nil }
        self.init(level: UInt8(level), charging: charging, time: time)
    }
}

extension StoredTag.Light: JSONRecord {
    func addMembers(to object: inout JSONWriter) {
        object.add("b", blue)
        object.add("brightness", brightness)
        object.add("effect", effect)
        object.add("end_ms", end)
        object.add("g", green)
        object.add("r", red)
    }

    fileprivate init?(_ document: JSONValue) {
        func byte(_ key: String) -> UInt8? { document[key]?.integer.flatMap { UInt8(exactly: $0) } }
        guard let red = byte("r"), let green = byte("g"), let blue = byte("b"),
            let brightness = byte("brightness"), brightness > 0, let effect = document["effect"]?.string,
            let end = document["end_ms"]?.integer
        else { return nil }
        self.init(red: red, green: green, blue: blue, brightness: brightness, effect: effect, end: end)
    }
}

extension StoredTag.Presence: JSONRecord {
    func addMembers(to object: inout JSONWriter) {
        object.add("since_ms", since)
        object.add("state", state)
    }

    fileprivate init?(_ document: JSONValue) {
        guard let state = document["state"]?.string, let since = document["since_ms"]?.integer else { return nil }
        self.init(state: state, since: since)
    }
}

extension StoredTag.Gear: JSONRecord {
    func addMembers(to object: inout JSONWriter) {
        object.add("name", name)
        object.add("product_id", productID)
        object.add("vendor_id", vendorID)
    }

    fileprivate init?(_ document: JSONValue) {
        guard let vendorID = document["vendor_id"]?.string, let productID = document["product_id"]?.string,
            let name = document["name"]?.string
        else { return nil }
        self.init(vendorID: vendorID, productID: productID, name: name)
    }
}

extension StoredTag {
    /// Converts a record of the bridge.
    init(_ record: TagRecord, isPaired: Bool) {
        self.init(
            serial: record.serial,
            id: record.id,
            address: record.address,
            name: record.name,
            held: record.isHeld,
            paired: isPaired,
            lastGear: record.lastGear.map { Gear(vendorID: $0.vendorID, productID: $0.productID, name: $0.name) },
            battery: record.battery.map {
                Battery(level: $0.level, charging: $0.isCharging, time: $0.unixMilliseconds)
            },
            presence: record.presence.map { Presence(state: $0.state, since: $0.unixMilliseconds) },
            radios: record.hasRadios ? true : nil,
            light: record.light.map {
                Light(
                    red: $0.red, green: $0.green, blue: $0.blue, brightness: $0.brightness, effect: $0.effect,
                    end: $0.endUnixMilliseconds)
            }, features: record.features)
    }

    /// The record for the bridge.
    var record: TagRecord {
        TagRecord(
            id: id,
            serial: serial,
            address: address,
            name: name,
            isHeld: held,
            lastGear: lastGear.map {
                TagRecord.Gear(vendorID: $0.vendorID, productID: $0.productID, name: $0.name)
            },
            battery: battery.map {
                TagRecord.Battery(level: $0.level, isCharging: $0.charging, unixMilliseconds: $0.time)
            },
            presence: presence.map { TagRecord.Presence(state: $0.state, unixMilliseconds: $0.since) },
            hasRadios: radios ?? false,
            light: light.map {
                TagRecord.Light(
                    red: $0.red, green: $0.green, blue: $0.blue, brightness: $0.brightness, effect: $0.effect,
                    endUnixMilliseconds: $0.end)
            },
            features: features)
    }
}
