import Time

/// The state of one connection to a proxy, from its first byte: handshake, versions, subscription, pings.
///
/// A pure value: bytes, messages and the time are passed in, bytes and events are returned. After `ended` it does
/// nothing.
struct ProxySession: Sendable {
    /// Changes of the connection, in their order.
    enum Event: Hashable, Sendable {
        /// The proxy serves this client now.
        case opened(ProxyInfo)
        /// A message for the client.
        case received(ProxyMessage)
        /// The connection is over. Send ``takeOutput()``, then close it.
        case ended(ProxyError)
    }

    /// Timeouts. Tests don't change them, because they pass the time.
    enum Limit {
        /// Timeout of the handshake and of each request until the proxy serves this client.
        static let opening = Duration.seconds(10)
        /// Timeout of the proxy's response to the subscription.
        static let subscription = Duration.seconds(3)
        /// The interval between pings.
        static let ping = Duration.seconds(10)
        /// When a ping is repeated after which nothing was received.
        static let pingRepetition = Duration.seconds(1)
        /// How many pings may stay unanswered.
        static let unansweredPings = 3
    }

    private enum Phase: Hashable {
        case handshake
        case hello
        case info
        case subscribing(ProxyInfo)
        case open
        case ended
    }

    /// The address in requests that only ask whether the proxy serves this client: to end a link that cannot exist.
    ///
    /// The response to such a request goes to the client that is subscribed, whichever client has sent it. ESPHome has
    /// no message for a subscription that was refused (until 2026.6) or that another client has taken over (since
    /// 2026.7).
    static let probedAddress: UInt64 = 1

    private var channel: FrameChannel
    /// Whether to take the proxy. Otherwise the session ends when its properties are known.
    private let subscribes: Bool
    private var phase = Phase.handshake
    /// Timeout of the current phase; nil while the session is open.
    private var limit: Instant?
    /// When the last ping was sent.
    private var pingedAt: Instant
    /// The number of pings since the last message.
    private var unanswered = 0
    /// Whether a message was received since the last ping that only a subscribed client receives.
    private var isServed = false
    /// Timeout of the request that asks whether the proxy serves this client; nil without such a request.
    private var probeLimit: Instant?
    /// Whether this client is subscribed, as far as it has asked for it.
    private var isSubscribed = false

    /// Starts a session over a new connection.
    ///
    /// - Parameters:
    ///   - channel: the framing.
    ///   - subscribes: false: report `opened` with the properties of the proxy, and let another client keep it.
    ///   - now: the time.
    init(_ channel: FrameChannel, subscribes: Bool = true, at now: Instant) {
        self.channel = channel
        self.subscribes = subscribes
        limit = now + Limit.opening
        pingedAt = now
        if channel.isOpen { sayHello(at: now) }
    }

    /// Whether messages of the client are sent.
    var isOpen: Bool { phase == .open }

    /// When to call ``timeReached(at:)``; nil after the end.
    var deadline: Instant? {
        switch phase {
        case .ended: return nil
        case .open:
            return probeLimit.map { min($0, nextPing) } ?? nextPing
        default: return limit
        }
    }

    private var nextPing: Instant { pingedAt + (unanswered > 0 ? Limit.pingRepetition : Limit.ping) }

    /// Returns and removes the bytes to send.
    mutating func takeOutput() -> [UInt8] {
        channel.takeOutput()
    }

    /// Sends a message. It is dropped before `opened` and after `ended`.
    mutating func send(_ message: ProxyMessage) {
        if phase == .open { write(message) }
    }

    /// Subscribes again, or ends the subscription: without one, the proxy sends nothing but its responses to pings, and has
    /// no links. If the proxy does not serve this client again, the session ends.
    mutating func setSubscribed(_ isWanted: Bool, at now: Instant) {
        guard phase == .open, isSubscribed != isWanted else { return }
        if isWanted {
            subscribe()
            probeLimit = now + Limit.subscription
            // The connection may have been lost since the last ping.
            if unanswered == 0 { ping(at: now) }
        } else {
            write(.unsubscribeAdvertisements)
            isSubscribed = false
            probeLimit = nil
        }
    }

    /// Ends the session by request, and lets the proxy know.
    mutating func close() {
        if phase != .handshake, phase != .ended { write(.disconnect) }
        phase = .ended
    }

    /// Handles received bytes.
    mutating func receive(_ bytes: some Collection<UInt8>, at now: Instant) -> [Event] {
        guard phase != .ended else { return [] }
        var events: [Event] = []
        do throws(ProxyError) {
            let frames = try channel.receive(bytes)
            if phase == .handshake, channel.isOpen { sayHello(at: now) }
            for frame in frames where phase != .ended {
                unanswered = 0
                if let message = try ProxyMessage.decode(frame) { try handle(message, at: now, &events) }
            }
        } catch {
            end(error, &events)
        }
        return events
    }

    /// Handles the time of ``deadline``.
    mutating func timeReached(at now: Instant) -> [Event] {
        var events: [Event] = []
        guard let deadline, deadline <= now else { return [] }
        guard phase == .open else {
            if case .subscribing = phase { end(.taken(wasOurs: false), &events) } else { end(.silent, &events) }
            return events
        }
        if nextPing <= now {
            if unanswered == Limit.unansweredPings { end(.silent, &events) } else { ping(at: now) }
        } else if unanswered > 0 {
            // Whether the proxy responds at all is found out first.
            probeLimit = nextPing
        } else {
            // The proxy responds to pings, but not to this client's requests.
            end(.taken(wasOurs: true), &events)
        }
        return events
    }

    // MARK: Messages

    private mutating func handle(_ message: ProxyMessage, at now: Instant, _ events: inout [Event]) throws(ProxyError) {
        switch message {
        case .ping: return write(.pingResponse)
        case .pingResponse: return
        case .disconnect:
            write(.disconnectResponse)
            throw .closed
        case .scannerState, .connection, .advertisements, .services, .servicesDone, .written, .notifySet, .value,
            .failed:
            isServed = true
            probeLimit = nil
        default: break
        }
        switch (phase, message) {
        case (.hello, .helloResponse(let major, _, _, _)):
            guard major == 1 else { throw .unsuitable("the proxy has version \(major) of the API; 1 is supported") }
            write(.deviceInfo)
            enter(.info, within: Limit.opening, at: now)
        case (.info, .deviceInfoResponse(let info)):
            guard info.features.isSuperset(of: .required) else {
                if info.features.isEmpty { throw .noProxy }
                throw info.features.contains(.connections)
                    ? .unsuitable("the proxy's firmware is too old") : .connectsNothing
            }
            guard subscribes else {
                events.append(.opened(info))
                return close()
            }
            subscribe()
            enter(.subscribing(info), within: Limit.subscription, at: now)
        case (.subscribing(let info), _) where isServed:
            phase = .open
            limit = nil
            pingedAt = now
            events.append(.opened(info))
            deliver(message, &events)
        case (.open, _), (.subscribing, .connectionsFree): deliver(message, &events)
        default: break
        }
    }

    private func deliver(_ message: ProxyMessage, _ events: inout [Event]) {
        if case .connection(Self.probedAddress, _, _, _) = message { return }
        events.append(.received(message))
    }

    private static let probe = ProxyMessage.device(probedAddress, .disconnect, addressType: nil)

    private mutating func subscribe() {
        write(.subscribeAdvertisements(flags: 1))
        write(.subscribeConnectionsFree)
        write(Self.probe)
        isSubscribed = true
        isServed = false
    }

    private mutating func sayHello(at now: Instant) {
        write(.hello(client: "jacquard2mqtt", major: 1, minor: 14))
        enter(.hello, within: Limit.opening, at: now)
    }

    private mutating func enter(_ next: Phase, within time: Duration, at now: Instant) {
        phase = next
        limit = now + time
    }

    private mutating func ping(at now: Instant) {
        write(.ping)
        if unanswered == 0 {
            if isSubscribed, !isServed, probeLimit == nil {
                write(Self.probe)
                probeLimit = now + Limit.subscription
            }
            isServed = false
        }
        unanswered += 1
        pingedAt = now
    }

    private mutating func write(_ message: ProxyMessage) {
        // Own messages are short enough, and the channel is open after the handshake.
        try? channel.send(message.frame)
    }

    private mutating func end(_ error: ProxyError, _ events: inout [Event]) {
        phase = .ended
        limit = nil
        events.append(.ended(error))
    }
}
