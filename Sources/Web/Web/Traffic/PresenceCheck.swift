import Bridge
import BrokerAccess
import MQTTTypes
import Time

/// Asks the bridges that are online by a message that the broker had stored: once in each connection to the broker, all at once.
struct PresenceCheck {
    /// The most bridges that are asked.
    static let mostBridges = 64

    /// A request to publish.
    struct Request: Hashable {
        let bridge: String
        let topic: String
        let payload: [UInt8]
    }

    private let base: String
    private let boot: String
    private var connection = 0
    /// Whether the broker does not say if it has taken a message (MQTT 3.1.1): then the request has to come back.
    private var hasEcho = false
    /// The bridges that have published on this connection before they were asked.
    private var heard: Set<String> = []
    /// nil before the stored messages were received.
    private var poll: PresencePoll?
    /// When ``end()`` is due.
    private(set) var deadline: Instant?

    init(base: String, boot: String) {
        self.base = base
        self.boot = boot
    }

    /// The subscription to the requests, with an echo.
    var filters: [String] { hasEcho ? ["\(base)/bridge/+/request/\(PresencePoll.verb)"] : [] }

    /// Handles a new connection to the broker.
    mutating func connected(hasEcho: Bool) {
        connection += 1
        self.hasEcho = hasEcho
        (heard, poll, deadline) = ([], nil, nil)
    }

    /// Handles the end of a connection, on which no answer can arrive any more.
    mutating func disconnected() { deadline = nil }

    /// Handles the end of the stored messages.
    ///
    /// - Parameters:
    ///   - online: the bridges that are online by their last message.
    ///   - now: the time.
    /// - Returns: the requests; none if they were made on this connection.
    mutating func storedReceived(_ online: [String], at now: Instant) -> [Request] {
        guard poll == nil else { return [] }
        let bridges = online.filter { !heard.contains($0) }.sorted().prefix(Self.mostBridges)
            .map { BridgeTopics(base: base, instance: $0) }
        let poll = PresencePoll(bridges, token: "web-\(boot)-presence-\(connection)")
        self.poll = poll
        if !bridges.isEmpty { deadline = now + SilentBridge.patience }
        return bridges.map { bridge in
            Request(
                bridge: bridge.instance, topic: bridge.request(PresencePoll.verb),
                payload: Array(poll.document(for: bridge.instance).utf8))
        }
    }

    /// The broker has acknowledged a request.
    mutating func taken(_ bridge: String) { if !hasEcho { poll?.taken(bridge) } }

    /// The broker has refused a request.
    mutating func refused(_ bridge: String) { poll?.refused(bridge) }

    /// A bridge that is online has published a message.
    mutating func heard(_ bridge: String) {
        if poll == nil { heard.insert(bridge) } else { poll?.heard(bridge) }
    }

    /// Handles a message that may be an answer or the echo of a request.
    ///
    /// - Returns: whether it is: browsers have not asked.
    mutating func received(_ message: MQTTMessage, below rest: Substring) -> Bool {
        guard rest.hasPrefix("bridge/"), rest.hasSuffix("/\(PresencePoll.verb)") else { return false }
        let levels = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 4 else { return false }
        let isOwn = poll?.received(message) ?? false
        return isOwn || levels[2] == "request"
    }

    /// Ends the wait for answers.
    ///
    /// - Returns: the bridges that have not answered, although the broker has taken the request.
    mutating func end() -> [String] {
        deadline = nil
        return (poll?.result ?? [:]).filter { $0.value == .silent }.keys.sorted()
    }
}
