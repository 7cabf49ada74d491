import Time

/// Requests of one connection: one in flight, the others in order behind it.
///
/// Ids are 1 to 254. An answer counts only if its id is the one in flight: a late answer to a request that has timed out
/// would otherwise be taken for the answer to the next one, as the iOS SDK does. Protocol article, "Envelopes".
struct RequestQueue<Purpose: Sendable>: Sendable {
    /// A request on its way.
    struct Flight: Sendable {
        let id: UInt32
        let purpose: Purpose
        let deadline: Instant
    }

    private struct Entry: Sendable {
        let request: Request
        let purpose: Purpose
        let timeout: Duration
    }

    /// The highest id.
    static var maximumID: UInt32 { 254 }

    /// The request that waits for its answer.
    private(set) var inFlight: Flight?
    private var waiting: [Entry] = []
    private var lastID: UInt32 = 0

    /// Puts a request behind the others.
    ///
    /// - Parameters:
    ///   - request: what to ask.
    ///   - purpose: comes back with the answer.
    ///   - timeout: how long its answer may take, from when it is sent.
    mutating func enqueue(_ request: Request, for purpose: Purpose, timeout: Duration) {
        waiting.append(Entry(request: request, purpose: purpose, timeout: timeout))
    }

    /// Puts a request before the others: the second half of what the one before it has begun.
    mutating func enqueueNext(_ request: Request, for purpose: Purpose, timeout: Duration) {
        waiting.insert(Entry(request: request, purpose: purpose, timeout: timeout), at: 0)
    }

    /// Takes the next request if none is in flight; from now on it is.
    ///
    /// - Returns: the packet and what it is for; nil when there is nothing to send now.
    mutating func next(at now: Instant) -> (packet: [UInt8], purpose: Purpose)? {
        guard inFlight == nil, !waiting.isEmpty else { return nil }
        let entry = waiting.removeFirst()
        // Most of the time there are none, and every tag has a queue: its memory is given back.
        if waiting.isEmpty { waiting = [] }
        lastID = lastID % Self.maximumID + 1
        inFlight = Flight(id: lastID, purpose: entry.purpose, deadline: now + entry.timeout)
        return (entry.request.encoded(id: lastID), entry.purpose)
    }

    /// Takes an answer.
    ///
    /// - Returns: what the request in flight was for; nil when the answer is to none, late or doubled.
    mutating func answered(id: UInt32) -> Purpose? {
        guard inFlight?.id == id else { return nil }
        return landed()
    }

    /// Gives up the request in flight, whatever for.
    mutating func landed() -> Purpose? {
        defer { inFlight = nil }
        return inFlight?.purpose
    }

    /// Gives up the request in flight if its time is over.
    mutating func expired(at now: Instant) -> Purpose? {
        guard let inFlight, inFlight.deadline <= now else { return nil }
        return landed()
    }

    /// Gives up those that wait and have lost their sense.
    ///
    /// - Returns: what they were for, in their order.
    mutating func withdraw(where isSenseless: (Purpose) -> Bool) -> [Purpose] {
        let senseless = waiting.map(\.purpose).filter(isSenseless)
        waiting.removeAll { isSenseless($0.purpose) }
        return senseless
    }

    /// Gives up everything.
    ///
    /// - Returns: what the request in flight was for, and the others in their order.
    mutating func drain() -> (sent: Purpose?, unsent: [Purpose]) {
        defer { waiting = [] }
        return (landed(), waiting.map(\.purpose))
    }
}
