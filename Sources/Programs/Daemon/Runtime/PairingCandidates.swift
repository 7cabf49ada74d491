import Jacquard
import JacquardProtocol

/// Collects the events of tags that are being paired, until the bridge knows them.
///
/// The bridge adds a tag once it is bonded. The tag is connected by then and does not report its information again.
struct PairingCandidates {
    /// The collected facts of one tag.
    struct Candidate {
        /// The events of the latest connection attempt, in order.
        fileprivate(set) var events: [TagEvent] = []
        /// The latest advertisement; nil if there was none.
        fileprivate(set) var advertised: AdvertisedTag?
    }

    private var tags: [TagIdentity: Candidate] = [:]

    /// Starts collecting for a tag.
    mutating func expect(_ identity: TagIdentity) {
        tags[identity] = Candidate()
    }

    /// Handles an advertisement.
    mutating func received(_ tag: AdvertisedTag, where matches: (TagIdentity) -> Bool) {
        for identity in tags.keys where matches(identity) { tags[identity]?.advertised = tag }
    }

    /// A tag that the bridge does not know has reported something. Each attempt to connect starts with none, and the last
    /// report of each kind is kept: repeated values take no memory.
    mutating func take(_ event: TagEvent, of identity: TagIdentity) {
        if case .connection(let connection) = event, connection.state == .preparingToConnect {
            tags[identity]?.events = []
        }
        guard let kind = Kind(event), tags[identity] != nil else { return }
        tags[identity]?.events.removeAll { Kind($0) == kind }
        tags[identity]?.events.append(event)
    }

    /// The kinds of events that are collected. Gestures, touches and command results are not.
    private enum Kind {
        case connection, information, battery, gear, touchMode

        init?(_ event: TagEvent) {
            switch event {
            case .connection: self = .connection
            case .information: self = .information
            case .battery: self = .battery
            case .gear: self = .gear
            case .touchMode: self = .touchMode
            default: return nil
            }
        }
    }

    /// Stops collecting and returns the candidate, after the bridge has added the tag or its pairing has failed.
    mutating func remove(_ identity: TagIdentity) -> Candidate? {
        tags.removeValue(forKey: identity)
    }
}
