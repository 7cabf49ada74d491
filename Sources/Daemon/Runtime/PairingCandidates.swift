import Jacquard
import JacquardProtocol

/// What tags that are being paired tell before the bridge knows them.
///
/// A tag is the bridge's with its bond, and is connected by then: it will not tell again what it is and has.
struct PairingCandidates {
    /// What has become known of one tag.
    struct Candidate {
        /// What it has told in its last attempt to connect, in order.
        fileprivate(set) var events: [TagEvent] = []
        /// How it was heard last; nil when it never was.
        fileprivate(set) var advertised: AdvertisedTag?
    }

    private var tags: [TagIdentity: Candidate] = [:]

    /// A tag is being paired.
    mutating func expect(_ identity: TagIdentity) {
        tags[identity] = Candidate()
    }

    /// A tag was heard.
    mutating func heard(_ tag: AdvertisedTag, where isThatTag: (TagIdentity) -> Bool) {
        for identity in tags.keys where isThatTag(identity) { tags[identity]?.advertised = tag }
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

    /// What outlives the moment; gestures, touches and the ends of commands do not.
    private enum Kind {
        case connection, information, battery, gear, touchMode

        init?(_ event: TagEvent) {
            switch event {
            case .connection: self = .connection
            case .information: self = .information
            case .battery: self = .battery
            case .gear: self = .gear
            case .touchMode: self = .touchMode
            case .gesture, .touch, .fragmentsLost, .commandEnded: return nil
            }
        }
    }

    /// The bridge knows the tag, or its pairing has failed.
    mutating func remove(_ identity: TagIdentity) -> Candidate? {
        tags.removeValue(forKey: identity)
    }
}
