import JacquardProtocol
import Time

/// `request/tags`: lists the known tags, and those that were received recently or are connected to the host.
struct TagsRequest: BridgeRequest {
    static let name = "tags"

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
    }

    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        let seen = bridge.search.seen.all
        let known = bridge.tags.map { tag in
            KnownTagDocument(
                tag, seen: seen.first { $0.tag.isFrom(tag) }, isConfigured: bridge.isConfigured(tag.entry.id))
        }
        let others = seen.map { seen in
            SeenTagDocument(
                seen, known: bridge.tags.first { seen.tag.isFrom($0) },
                isKnown: bridge.tags.contains(serial: seen.tag.serial))
        }
        return .done(CommandData(TagListDocument(known: known, seen: others)))
    }
}

/// The data of the result of `request/tags`.
struct TagListDocument: Encodable {
    let known: [KnownTagDocument]
    let seen: [SeenTagDocument]
}

/// A known tag.
struct KnownTagDocument: Encodable {
    let id: String
    let serial: String
    @OrNull var name: String?
    @OrNull var address: String?
    /// The connection policy.
    let connect: String
    let held: Bool
    /// Whether the configuration lists it.
    let configured: Bool
    @OrNull var paired: Bool?
    let state: String
    @OrNull var rssi: Int?
    @OrNull var lastGear: String?
    @OrNull var lastSeen: String?

    /// - Parameters:
    ///   - tag: the tag.
    ///   - seen: the latest advertisement of the same tag; nil if there is none.
    ///   - isConfigured: whether the configuration lists it.
    init(_ tag: TagMirror, seen: SeenTag?, isConfigured: Bool) {
        id = tag.entry.id.text
        serial = tag.entry.serial
        name = tag.entry.name ?? tag.sighting.name
        address = tag.sighting.address
        connect = tag.entry.connect.rawValue
        held = tag.link.intent.isHeld
        configured = isConfigured
        paired = tag.sighting.isPaired
        state = tag.link.connection.state.word
        rssi = tag.sighting.rssi
        lastGear = tag.gear.last?.name.nonEmpty
        lastSeen = [tag.lastSeen, seen?.at].compactMap(\.self).max { $0.instant < $1.instant }?.text
    }

    private enum CodingKeys: String, CodingKey {
        case id, serial, name, address, connect, held, configured, paired, state, rssi
        case lastGear = "last_gear"
        case lastSeen = "last_seen"
    }
}

/// A tag, known or not, that was received or is connected to the host.
struct SeenTagDocument: Encodable {
    let address: String
    let serial: String
    @OrNull var name: String?
    @OrNull var rssi: Int?
    /// Whether one of the bridge's tags has this serial.
    let known: Bool
    let connected: Bool
    let lastSeen: String

    /// - Parameters:
    ///   - seen: the latest advertisement.
    ///   - tag: the same tag if the bridge knows it, with newer facts; else nil.
    ///   - isKnown: whether one of the bridge's tags has this serial.
    init(_ seen: SeenTag, known tag: TagMirror?, isKnown: Bool) {
        address = seen.tag.address
        serial = seen.tag.serial
        name = tag?.entry.name ?? tag?.sighting.name ?? seen.tag.name?.nonEmpty
        rssi = tag?.sighting.rssi ?? seen.tag.rssi
        known = isKnown
        connected = tag?.isConnected ?? seen.tag.isConnected
        lastSeen = [tag?.lastSeen, seen.at].compactMap(\.self).max { $0.instant < $1.instant }?.text ?? seen.at.text
    }

    private enum CodingKeys: String, CodingKey {
        case address, serial, name, rssi, known, connected
        case lastSeen = "last_seen"
    }
}

extension TagAdvertisement {
    /// Returns whether it is of a tag: the serial is equal, and the address where it is known.
    fileprivate func isFrom(_ tag: TagMirror) -> Bool {
        tag.entry.serial == serial && (tag.sighting.address ?? address) == address
    }
}
