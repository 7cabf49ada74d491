import Jacquard
import JacquardProtocol

/// What tags that are being paired tell before the bridge knows them.
///
/// A tag is the bridge's with its bond, and is connected by then: it will not tell again what it is and has.
struct Newcomers {
    private var events: [TagIdentity: [TagEvent]] = [:]

    /// A tag is being paired.
    mutating func expect(_ identity: TagIdentity) {
        events[identity] = []
    }

    /// A tag that the bridge does not know has told something. Each attempt to connect begins from nothing.
    mutating func take(_ event: TagEvent, of identity: TagIdentity) {
        if case .connection(let connection) = event, connection.state == .preparingToConnect {
            events[identity]? = []
        }
        events[identity]?.append(event)
    }

    /// The bridge knows the tag, or its pairing has failed.
    ///
    /// - Returns: what it has told in its last attempt, in order.
    mutating func remove(_ identity: TagIdentity) -> [TagEvent] {
        events.removeValue(forKey: identity) ?? []
    }
}
