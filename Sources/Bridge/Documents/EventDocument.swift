import JSON

/// The values of `type` in `G/event`.
enum BridgeEvent: String, Hashable, Sendable, CaseIterable, Encodable {
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
}

/// `G/event`.
struct EventDocument: Encodable {
    let type: BridgeEvent
    /// The tag's name in topics.
    @OrNull var id: String?
    @OrNull var serial: String?
    @OrNull var address: String?
    @OrNull var adapter: String?
    @OrNull var text: String?
    let bridge: String
    let time: String
}

extension BridgeState {
    /// How long an event is queued while the broker is away.
    private static let eventLifetime = Duration.seconds(60)

    /// Returns the publication of an event.
    func event(
        _ type: BridgeEvent,
        id: TagID? = nil,
        serial: String? = nil,
        address: String? = nil,
        adapter: String? = nil,
        text: String? = nil,
        at now: Moment
    ) -> Publication {
        let document = EventDocument(
            type: type, id: id?.text, serial: serial, address: address, adapter: adapter, text: text,
            bridge: configuration.instance, time: now.text)
        return Publication(
            topic: topics.event, payload: JSONText.bytes(of: document), kind: .event(lifetime: Self.eventLifetime))
    }
}
