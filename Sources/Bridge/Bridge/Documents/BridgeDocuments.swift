/// `G/info`.
struct BridgeInfoDocument: JoinedDocument {
    let program: ProgramDocument
    let tags: BridgeTagsDocument
    let session: BridgeSessionDocument

    var parts: [any Encodable] { [program, tags, session] }
}

/// The program of a bridge, and what it is connected to.
struct ProgramDocument: Encodable {
    /// The version of the MQTT contract.
    let contract = 1
    let version: String
    let instance: String
    let started: String
    let boot: String
    @OrNull var bluez: String?
    @OrNull var mqtt: Int?
    /// The connected node of the broker; omitted if only one address is configured.
    var node: String?
    /// Whether the bridge publishes beats; omitted if not.
    var watch: Bool?
}

/// The tags of a bridge, in `G/info`.
struct BridgeTagsDocument: Encodable {
    let tags: [String]
    /// The connected tags. Commands to them are answered by this bridge only.
    let connected: [String]
    /// The tags whose facts this bridge leaves to another one, which is connected to them; omitted if there are none.
    var elsewhere: [String]?
    /// The tags of each group; omitted without groups.
    var groups: [String: [String]]?
}

/// The facts about the commands of a bridge that other bridges need, in `G/info`.
struct BridgeSessionDocument: Encodable {
    /// The commands that have failed here, and that another bridge may still have; omitted if there are none.
    var refused: [RefusedCommand]?
    /// The number of the session at the broker; omitted for the first.
    var session: Int?
    /// The time from the last message of the session before until the connection: the bridge has missed its commands. Omitted for the
    /// first session.
    var missedMilliseconds: Int64?

    private enum CodingKeys: String, CodingKey {
        case refused, session
        case missedMilliseconds = "missed_ms"
    }
}

/// One element of `G/adapter`.
struct AdapterDocument: Encodable {
    let id: String
    @OrNull var address: String?
    let state: String
    let discovering: Bool
    let connected: Int
    /// Omitted if the bridge has one radio.
    var radio: String?
    /// Omitted if it is unknown.
    var freeLinks: Int?
    /// Omitted if the adapter can be used, or if the reason is unknown.
    var error: String?

    private enum CodingKeys: String, CodingKey {
        case id, address, state, discovering, connected, radio, error
        case freeLinks = "free_links"
    }

    init(_ adapter: AdapterFacts) {
        id = adapter.id
        address = adapter.address
        state = adapter.state.rawValue
        discovering = adapter.isDiscovering
        connected = adapter.connectedCount
        radio = adapter.radio
        freeLinks = adapter.freeLinks
        error = adapter.error
    }
}

/// `G/health`.
struct HealthDocument: Encodable {
    let status: String
    let problems: [ProblemDocument]
    let uptimeSeconds: Int64
    @OrNull var residentKilobytes: Int?
    let queue: Int
    let dropped: Int
    let brokerReconnects: Int

    private enum CodingKeys: String, CodingKey {
        case status, problems, queue, dropped
        case uptimeSeconds = "uptime_s"
        case residentKilobytes = "rss_kb"
        case brokerReconnects = "broker_reconnects"
    }

    init(_ problems: [Problem: Timestamp], measurement: HealthMeasurement?, uptime: Duration) {
        status = problems.keys.contains(where: \.isFatal) ? "failed" : problems.isEmpty ? "ok" : "degraded"
        self.problems = problems.map { ProblemDocument(code: $0.key.code.rawValue, text: $0.text, since: $1.text) }
            .sorted { ($0.since, $0.text) < ($1.since, $1.text) }
        uptimeSeconds = uptime.components.seconds
        residentKilobytes = measurement?.residentKilobytes
        queue = measurement?.queued ?? 0
        dropped = measurement?.dropped ?? 0
        brokerReconnects = measurement?.brokerReconnects ?? 0
    }
}

/// One problem in `G/health`.
struct ProblemDocument: Encodable {
    let code: String
    let text: String
    let since: String
}

/// `G/event`.
struct EventDocument: Encodable {
    /// The values of `type` in `G/event`.
    enum Kind: String, Hashable, Sendable, CaseIterable, Encodable {
        case scanStarted = "scan_started"
        case scanStopped = "scan_stopped"
        case pairStarted = "pair_started"
        case pairFound = "pair_found"
        case pairPairing = "pair_pairing"
        case pairConnecting = "pair_connecting"
        case paired
        case pairFailed = "pair_failed"
        case tagForgotten = "tag_forgotten"
        case adapterLost = "adapter_lost"
        case adapterBack = "adapter_back"
        case duplicateSerial = "duplicate_serial"
        case bridgeSilent = "bridge_silent"
    }

    let type: Kind
    /// The tag's name in topics.
    @OrNull var id: String?
    @OrNull var serial: String?
    @OrNull var address: String?
    @OrNull var adapter: String?
    @OrNull var text: String?
    let bridge: String
    let time: String
}
