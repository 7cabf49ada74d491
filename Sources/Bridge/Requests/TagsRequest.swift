import JacquardProtocol

/// `request/tags`: the tags that the bridge knows, and those that it has heard or that the host is connected with.
struct TagsRequest: BridgeRequest {
    static let name = "tags"

    init(_ payload: CommandPayload, to bridge: BridgeState) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
    }

    func begin(in bridge: inout BridgeState, token: UInt64, at now: Moment) -> BridgeRequestStep {
        let known = bridge.tags.map { KnownTagDocument($0, isConfigured: bridge.isConfigured($0.entry.id)) }
        let seen = bridge.seen.all.map { SeenTagDocument($0, isKnown: bridge.isKnown(serial: $0.tag.serial)) }
        return .done(CommandData(TagListDocument(known: known, seen: seen)), [])
    }
}

/// The data of the result of `request/tags`.
struct TagListDocument: Encodable {
    let known: [KnownTagDocument]
    let seen: [SeenTagDocument]
}

/// A tag that the bridge knows.
struct KnownTagDocument: Encodable {
    let id: String
    let serial: String
    @OrNull var name: String?
    @OrNull var address: String?
    /// The policy.
    let connect: String
    let held: Bool
    /// Whether the configuration lists it.
    let configured: Bool
    @OrNull var paired: Bool?
    let state: String
    @OrNull var rssi: Int?
    @OrNull var lastGear: String?
    @OrNull var lastSeen: String?

    init(_ tag: TagMirror, isConfigured: Bool) {
        id = tag.entry.id.text
        serial = tag.entry.serial
        name = tag.entry.name ?? tag.sighting.name
        address = tag.sighting.address
        connect = tag.entry.connect.word
        held = tag.wish.isHeld
        configured = isConfigured
        paired = tag.sighting.isPaired
        state = tag.connection.state.word
        rssi = tag.sighting.rssi
        lastGear = tag.lastGear?.name.nonEmpty
        lastSeen = tag.lastSeen?.text
    }

    private enum CodingKeys: String, CodingKey {
        case id, serial, name, address, connect, held, configured, paired, state, rssi
        case lastGear = "last_gear"
        case lastSeen = "last_seen"
    }
}

/// A tag that was heard or is connected with the host, known or not.
struct SeenTagDocument: Encodable {
    let address: String
    let serial: String
    @OrNull var name: String?
    @OrNull var rssi: Int?
    let known: Bool
    let connected: Bool
    let lastSeen: String

    init(_ seen: SeenTag, isKnown: Bool) {
        address = seen.tag.address
        serial = seen.tag.serial
        name = seen.tag.name?.nonEmpty
        rssi = seen.tag.knownRSSI
        known = isKnown
        connected = seen.tag.isConnected
        lastSeen = seen.at.text
    }

    private enum CodingKeys: String, CodingKey {
        case address, serial, name, rssi, known, connected
        case lastSeen = "last_seen"
    }
}
