import Time

/// The requests of one connection: one in flight, the others waiting in order.
///
/// Ids are 1 to 254. A response is accepted only if its id is the one in flight. Otherwise a late response to a
/// timed-out request would be taken for the response to the next one, as in the iOS SDK. Source: protocol article,
/// "Envelopes".
struct RequestQueue<Purpose: Sendable>: Sendable {
    /// A request that was sent.
    struct Flight: Sendable {
        let id: UInt32
        let purpose: Purpose
        let deadline: Instant
    }

    private struct Entry: Sendable {
        let request: Request
        let purpose: Purpose
        let timeout: Duration
        /// Whether it precedes requests that are not.
        let isFirst: Bool
    }

    /// The highest id.
    static var maximumID: UInt32 { 254 }

    /// The request that waits for its response.
    private(set) var inFlight: Flight?
    private var waiting: [Entry] = []
    private var lastID: UInt32 = 0

    /// Appends a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - purpose: returned with the response.
    ///   - timeout: how long the response may take after the request was sent.
    ///   - isFirst: whether it precedes those that wait, except earlier ones with the same right.
    mutating func enqueue(_ request: Request, for purpose: Purpose, timeout: Duration, isFirst: Bool) {
        let entry = Entry(request: request, purpose: purpose, timeout: timeout, isFirst: isFirst)
        guard isFirst, let place = waiting.firstIndex(where: { !$0.isFirst }) else { return waiting.append(entry) }
        waiting.insert(entry, at: place)
    }

    /// Inserts a request before the others: the second half of an operation.
    mutating func enqueueNext(_ request: Request, for purpose: Purpose, timeout: Duration) {
        waiting.insert(Entry(request: request, purpose: purpose, timeout: timeout, isFirst: true), at: 0)
    }

    /// Removes the next request and makes it the one in flight.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - isHeld: which requests stay behind.
    /// - Returns: the packet and its purpose; nil if a request is in flight or none may be sent.
    mutating func next(
        at now: Instant, without isHeld: ((Purpose) -> Bool)? = nil
    ) -> (packet: [UInt8], purpose: Purpose)? {
        guard inFlight == nil, let place = waiting.firstIndex(where: { isHeld?($0.purpose) != true }) else {
            return nil
        }
        let entry = waiting.remove(at: place)
        // Every tag has a queue, which is usually empty: release the memory.
        if waiting.isEmpty { waiting = [] }
        lastID = lastID % Self.maximumID + 1
        inFlight = Flight(id: lastID, purpose: entry.purpose, deadline: now + entry.timeout)
        return (entry.request.encoded(id: lastID), entry.purpose)
    }

    /// Handles a response.
    ///
    /// - Returns: the purpose of the request in flight; nil if the response is late, repeated or unsolicited.
    mutating func responseReceived(id: UInt32) -> Purpose? {
        guard inFlight?.id == id else { return nil }
        return removeInFlight()
    }

    /// Removes the request in flight and returns its purpose.
    mutating func removeInFlight() -> Purpose? {
        defer { inFlight = nil }
        return inFlight?.purpose
    }

    /// Removes the request in flight if it has timed out.
    mutating func expired(at now: Instant) -> Purpose? {
        guard let inFlight, inFlight.deadline <= now else { return nil }
        return removeInFlight()
    }

    /// Removes the waiting requests that are obsolete.
    ///
    /// - Returns: their purposes, in order.
    mutating func withdraw(where isObsolete: (Purpose) -> Bool) -> [Purpose] {
        let obsolete = waiting.map(\.purpose).filter(isObsolete)
        waiting.removeAll { isObsolete($0.purpose) }
        return obsolete
    }

    /// Removes all requests.
    ///
    /// - Returns: the purpose of the request in flight, and those of the waiting requests in order.
    mutating func drain() -> (sent: Purpose?, unsent: [Purpose]) {
        defer { waiting = [] }
        return (removeInFlight(), waiting.map(\.purpose))
    }
}

/// The fragments of the packet being sent, one write at a time.
///
/// bluetoothd rejects a write to a characteristic while an earlier write is unconfirmed.
struct FragmentQueue: Sendable {
    /// The fragments of the packet being sent that are still to be written; nil if there is none.
    private var fragments: Fragmenter?
    /// When the pending write must be confirmed; nil if there is none.
    private(set) var deadline: Instant?

    /// Whether a fragment of the current packet was confirmed.
    private(set) var isPartlySent = false

    /// Whether a write is pending.
    var isWriting: Bool { deadline != nil }

    /// Splits a new packet and returns its first fragment. Call it only while no write is pending.
    ///
    /// - Parameters:
    ///   - packet: 1 to 1,024 bytes.
    ///   - maximumLength: the maximum length of a fragment on this link, in bytes.
    ///   - deadline: when the write must be confirmed.
    /// - Returns: the fragment to write; nil if the packet's length is out of range.
    mutating func send(
        _ packet: [UInt8], maximumLength: Int = Fragment.maximumLength, confirmedBy deadline: Instant
    ) -> [UInt8]? {
        fragments = try? Fragmenter(of: packet, maximumLength: maximumLength)
        isPartlySent = false
        return advance(to: deadline)
    }

    /// Handles the confirmation of a write and returns the next fragment.
    mutating func written(nextConfirmedBy deadline: Instant) -> [UInt8]? {
        isPartlySent = true
        return advance(to: deadline)
    }

    /// Discards the fragments that are not written yet. A pending write still waits for its confirmation.
    mutating func abandon() {
        fragments = nil
    }

    private mutating func advance(to deadline: Instant) -> [UInt8]? {
        guard let fragment = fragments?.next() else {
            (fragments, self.deadline) = (nil, nil)
            return nil
        }
        self.deadline = deadline
        return fragment
    }
}
