import JSON
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
                tag: tag, seen: seen.first { $0.tag.isFrom(tag) }, isConfigured: bridge.isConfigured(tag.entry.id))
        }
        let others = seen.map { seen in
            SeenTagDocument(
                seen: seen, tag: bridge.tags.first { seen.tag.isFrom($0) },
                isKnown: bridge.tags.contains(serial: seen.tag.serial))
        }
        return .done(
            CommandData { object in
                object.add("known", known)
                object.add("seen", others)
            })
    }
}

/// A known tag.
private struct KnownTagDocument: JSONRecord {
    let tag: TagMirror
    /// The latest advertisement of the same tag; nil if there is none.
    let seen: SeenTag?
    /// Whether the configuration lists it.
    let isConfigured: Bool

    func addMembers(to object: inout JSONWriter) {
        object.add("address", tag.sighting.address)
        object.add("configured", isConfigured)
        object.add("connect", tag.entry.connect.rawValue)
        object.add("held", tag.link.intent.isHeld)
        object.add("id", tag.entry.id.text)
        object.add("last_gear", tag.gear.last?.name.nonEmpty)
        object.add("last_seen", [tag.lastSeen, seen?.at].latest)
        object.add("name", tag.entry.name ?? tag.sighting.name)
        object.add("paired", tag.sighting.isPaired)
        object.add("rssi", tag.sighting.rssi)
        object.add("serial", tag.entry.serial)
        object.add("state", tag.link.connection.state.word)
    }
}

/// A tag, known or not, that was received or is connected to the host.
private struct SeenTagDocument: JSONRecord {
    /// The latest advertisement.
    let seen: SeenTag
    /// The same tag if the bridge knows it, with newer facts.
    let tag: TagMirror?
    /// Whether one of the bridge's tags has this serial.
    let isKnown: Bool

    func addMembers(to object: inout JSONWriter) {
        object.add("address", seen.tag.address)
        object.add("connected", tag?.isConnected ?? seen.tag.isConnected)
        object.add("known", isKnown)
        object.add("last_seen", [tag?.lastSeen, seen.at].latest)
        object.add("name", tag?.entry.name ?? tag?.sighting.name ?? seen.tag.name?.nonEmpty)
        object.add("rssi", tag?.sighting.rssi ?? seen.tag.rssi)
        object.add("serial", seen.tag.serial)
    }
}

extension [Timestamp?] {
    fileprivate var latest: Timestamp? { compactMap(\.self).max { $0.instant < $1.instant } }
}

extension TagAdvertisement {
    /// Returns whether it is of a tag: the serial is equal, and the address where it is known.
    fileprivate func isFrom(_ tag: TagMirror) -> Bool {
        tag.entry.serial == serial && (tag.sighting.address ?? address) == address
    }
}
