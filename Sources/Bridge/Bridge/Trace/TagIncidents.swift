import JacquardProtocol
import Time

/// The latest incidents of all tags that explain a missing gesture.
struct TagIncidents: Sendable {
    /// The kind of an incident.
    enum Kind: Hashable, Sendable {
        /// A packet was dropped, because a fragment of it was missing.
        case fragmentLost
        /// The tag was connected.
        case connected
        /// The connection ended, with the error if there was one.
        case disconnected(TagConnectionError.Code?)
    }

    /// An incident of a tag.
    struct Incident: Hashable, Sendable {
        let tag: TagHandle
        let kind: Kind
        let time: Instant
    }

    private var ring = TraceRing<Incident>(capacity: 128)

    /// Adds an incident.
    mutating func add(_ kind: Kind, of tag: TagHandle, at now: Instant) {
        _ = ring.append(Incident(tag: tag, kind: kind, time: now))
    }

    /// Returns the latest incidents of a tag, or of all for nil; oldest first.
    func latest(of tag: TagHandle?, _ count: Int) -> [Incident] {
        ring.latest(count) { tag == nil || $0.tag == tag }
    }
}

extension TagIncidents.Kind {
    /// The incident of an event; nil if it is none. The end of the connection to a tag that is being forgotten is no error.
    init?(_ event: TagEvent, wasConnected: Bool, isConnected: Bool, isForgetting: Bool) {
        switch event {
        case .fragmentsLost: self = .fragmentLost
        case .connection(let connection) where wasConnected != isConnected:
            self = isConnected ? .connected : .disconnected(isForgetting ? nil : connection.error?.code)
        default: return nil
        }
    }
}
