import HomeAssistant
import JacquardProtocol

/// The retained topics that a bridge has published at a broker, in the order in which they are taken back.
public struct BrokerFootprint: Sendable {
    /// The messages that say that the bridge and its tags are offline.
    public var offline: [Publication]
    /// The announcements to Home Assistant. They are cleared a second before the facts.
    public var announcements: [Publication]
    /// All other topics; the bridge's state comes last.
    public var facts: [Publication]
}

extension BridgeState {
    /// The messages to take back at a broker that the bridge leaves, after ``BridgeEvent/leavingBroker``. Tags that another bridge has,
    /// too, are left to it.
    public var footprint: BrokerFootprint {
        let own = tags.filter { !fleet.peers.isKnown($0.entry.id) }
        let documents = homeAssistant.discovery?.documents
        let announcements =
            own.flatMap { documents?.withdrawal(ofTag: $0.entry.id.text) ?? [] }
            + (documents?.withdrawal(ofBridgeAndTags: []) ?? [])
            + (homeAssistant.discovery?.withdrawalOfUnfinished(own.map(\.entry.id.text)) ?? [])
        return BrokerFootprint(
            offline: own.map { .fact($0.topics[.availability], word: "offline") } + [will],
            announcements: announcements.map(Publication.init),
            facts: (leftovers.departed + own.flatMap(\.retainedTopics) + topics.retained).map { .noFact($0) })
    }
}
