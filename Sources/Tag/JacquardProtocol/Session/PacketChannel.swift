import Time

/// The packets of one link: sends requests one after another, matches their responses, and reassembles what the tag
/// sends.
///
/// A request is sent once the response to the previous one was received or has timed out, and its fragments once the
/// previous write is confirmed.
struct PacketChannel: Sendable {
    /// The effect of a confirmed write.
    enum Confirmation {
        /// No write was pending.
        case unexpected
        /// The next fragment of the packet is to be written.
        case nextFragment([UInt8])
        /// The packet is written, or the rest of it was discarded.
        case complete
        /// A packet of raw data is written. The value is its command; nil for an acknowledgement.
        case rawComplete(UInt64?)
    }

    /// The effect of a failed write.
    enum FailedWrite {
        /// No write was pending.
        case unexpected
        /// No request is in flight: it was answered or has timed out, so the failure has no effect.
        case withoutRequest
        /// The write was part of a packet of raw data. The value is its command; nil for an acknowledgement.
        case raw(UInt64?)
        /// The write was part of this request. `isPartlySent` is true after a confirmed fragment.
        case request(RequestPurpose, isPartlySent: Bool)
    }

    private let writeTimeout: Duration
    private var requests = RequestQueue<RequestPurpose>()
    private var fragments = FragmentQueue()
    /// Packets for the raw data characteristic, each with its command.
    private var rawPackets: [(packet: [UInt8], token: UInt64?)] = []
    /// The packet of raw data that is being written; nil if it is one of a request.
    private var rawWrite: (isPending: Bool, token: UInt64?) = (false, nil)
    private var responses = Reassembler()
    private var notifications = Reassembler()
    /// The maximum length of a fragment in bytes. Until the link's MTU is known, that of an MTU of 64.
    private var fragmentLength = Fragment.maximumLength

    /// Creates the channel of a new link.
    ///
    /// - Parameter writeTimeout: how long the confirmation of a write may take.
    init(writeTimeout: Duration) {
        self.writeTimeout = writeTimeout
    }

    /// When the pending write must be confirmed; nil if there is none.
    var writeDeadline: Instant? { fragments.deadline }

    /// When the request in flight times out; nil if there is none.
    var responseDeadline: Instant? { requests.inFlight?.deadline }

    /// Sets the link's ATT MTU. It applies from the next packet on.
    mutating func setMTU(_ mtu: Int) {
        fragmentLength = Fragment.length(mtu: mtu)
    }

    // MARK: Requests

    /// Appends a request.
    mutating func enqueue(_ request: Request, for purpose: RequestPurpose, timeout: Duration, isFirst: Bool = false) {
        requests.enqueue(request, for: purpose, timeout: timeout, isFirst: isFirst)
    }

    /// Inserts a request before the others: the second half of an operation.
    mutating func enqueueNext(_ request: Request, for purpose: RequestPurpose, timeout: Duration) {
        requests.enqueueNext(request, for: purpose, timeout: timeout)
    }

    /// Removes the waiting requests that are obsolete and returns their purposes, in order.
    mutating func withdraw(where isObsolete: (RequestPurpose) -> Bool) -> [RequestPurpose] {
        requests.withdraw(where: isObsolete)
    }

    /// Starts the next request.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - isHeld: which requests stay behind; nil: none.
    /// - Returns: its first fragment and its purpose; nil if a request is in flight, a write is pending or no request
    ///   may be sent.
    mutating func sendNext(
        at now: Instant, without isHeld: ((RequestPurpose) -> Bool)? = nil
    ) -> (fragment: [UInt8], purpose: RequestPurpose)? {
        guard !isWriting, let (packet, purpose) = requests.next(at: now, without: isHeld),
            let fragment = fragments.send(
                packet, maximumLength: fragmentLength, confirmedBy: now + writeTimeout)
        else { return nil }
        return (fragment, purpose)
    }

    /// Whether a write is pending.
    private var isWriting: Bool { fragments.isWriting }

    /// Whether the pending write is one of raw data.
    var isWritingRaw: Bool { rawWrite.isPending }

    /// Appends a packet of raw data.
    mutating func enqueueRaw(_ packet: [UInt8], token: UInt64?) {
        rawPackets.append((packet, token))
    }

    /// Starts the next packet of raw data, before requests: the tag waits for its acknowledgement.
    ///
    /// - Returns: its first fragment; nil if a write is pending or no packet is waiting.
    mutating func sendNextRaw(at now: Instant) -> [UInt8]? {
        guard !rawPackets.isEmpty, !isWriting else { return nil }
        let (packet, token) = rawPackets.removeFirst()
        if rawPackets.isEmpty { rawPackets = [] }
        guard
            let fragment = fragments.send(
                packet, maximumLength: fragmentLength, confirmedBy: now + writeTimeout)
        else { return nil }
        rawWrite = (true, token)
        return fragment
    }

    /// Handles the confirmation of a write.
    mutating func written(at now: Instant) -> Confirmation {
        guard isWriting else { return .unexpected }
        guard let fragment = fragments.written(nextConfirmedBy: now + writeTimeout) else {
            guard rawWrite.isPending else { return .complete }
            defer { rawWrite = (false, nil) }
            return .rawComplete(rawWrite.token)
        }
        return .nextFragment(fragment)
    }

    /// Handles a failed write. The rest of the packet is discarded; the request stays in flight.
    mutating func writeFailed() -> FailedWrite {
        guard fragments.isWriting else { return .unexpected }
        let isPartlySent = fragments.isPartlySent
        fragments = FragmentQueue()
        if rawWrite.isPending {
            defer { rawWrite = (false, nil) }
            return .raw(rawWrite.token)
        }
        guard let purpose = requests.inFlight?.purpose else { return .withoutRequest }
        return .request(purpose, isPartlySent: isPartlySent)
    }

    /// Removes the request in flight.
    mutating func removeInFlight() {
        _ = requests.removeInFlight()
    }

    /// Removes all requests and fragments.
    ///
    /// - Returns: the purpose of the request in flight, and those of the waiting requests in order.
    mutating func drain() -> (sent: RequestPurpose?, unsent: [RequestPurpose]) {
        fragments = FragmentQueue()
        return requests.drain()
    }

    /// Removes all packets of raw data, and returns their commands.
    mutating func drainRaw() -> (sent: UInt64?, unsent: [UInt64]) {
        defer { (rawPackets, rawWrite) = ([], (false, nil)) }
        return (rawWrite.token, rawPackets.compactMap(\.token))
    }

    /// Removes the request in flight if it has timed out, and returns its purpose.
    mutating func expired(at now: Instant) -> RequestPurpose? {
        guard let purpose = requests.expired(at: now) else { return nil }
        if !rawWrite.isPending { fragments.abandon() }
        return purpose
    }

    // MARK: Values from the tag

    /// Handles a value of the notify characteristic and returns the packet that it completes.
    mutating func notification(_ value: [UInt8], isPacketLost: inout Bool) -> ArraySlice<UInt8>? {
        Self.reassemble(value, in: &notifications, isPacketLost: &isPacketLost)
    }

    /// Handles a value of the response characteristic.
    ///
    /// - Returns: the response that it completes and the purpose of its request; nil for a response to another request
    ///   than the one in flight. A response that cannot be decoded has no id to match: the request times out.
    mutating func response(
        _ value: [UInt8], isPacketLost: inout Bool
    ) -> (purpose: RequestPurpose, response: Response)? {
        guard let packet = Self.reassemble(value, in: &responses, isPacketLost: &isPacketLost),
            let response = try? Response.decode(packet),
            let purpose = requests.responseReceived(id: response.id)
        else { return nil }
        // The tag may respond before it has received all fragments. The rest would corrupt the next request.
        if !rawWrite.isPending { fragments.abandon() }
        return (purpose, response)
    }

    /// Drops the packets of which only a part has arrived, and returns their number.
    mutating func dropIncompletePackets() -> Int {
        let lost = responses.lostPackets + notifications.lostPackets
        responses.reset()
        notifications.reset()
        return responses.lostPackets + notifications.lostPackets - lost
    }

    private static func reassemble(
        _ value: [UInt8], in reassembler: inout Reassembler, isPacketLost: inout Bool
    ) -> ArraySlice<UInt8>? {
        let lost = reassembler.lostPackets
        let outcome = reassembler.receive(value)
        if lost != reassembler.lostPackets { isPacketLost = true }
        guard case .packet(let packet) = outcome else { return nil }
        return packet
    }
}
