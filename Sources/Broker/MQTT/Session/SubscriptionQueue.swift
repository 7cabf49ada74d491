import MQTTTypes

/// The subscriptions and messages that wait until the broker has answered an earlier SUBSCRIBE.
///
/// Brokers limit the filters of a SUBSCRIBE, and some end the connection above the limit (AWS IoT Core: eight). So a
/// packet has at most that many filters, and the next one follows the answer. Messages that are published meanwhile wait,
/// because they must not overtake subscriptions.
///
/// Nothing but the end of the connection shows that a broker refuses a packet in this way. After a connection that has
/// ended with an unanswered SUBSCRIBE, the next one is careful: each packet has one filter, and messages wait for the last
/// answer. If it ends as well, the filter is the cause.
struct SubscriptionQueue {
    /// The content of one SUBSCRIBE: filters of one quality of service.
    struct Packet: Equatable {
        var filters: [MQTTTopicFilter]
        let qos: MQTTQoS
    }

    /// A message that waits.
    struct HeldMessage {
        let message: MQTTMessage
        let ticket: UInt64
    }

    /// Upper bound on the filters of a SUBSCRIBE.
    static let maxFilters = 8

    /// Whether each packet has one filter, and messages wait for the last answer.
    let isCareful: Bool
    private var packets: [Packet] = []
    private(set) var held: [HeldMessage] = []
    /// The packet that the broker has not answered.
    private(set) var unanswered: Packet?

    init(isCareful: Bool) {
        self.isCareful = isCareful
    }

    /// Whether messages wait.
    var holdsMessages: Bool { !packets.isEmpty || (isCareful && unanswered != nil) || !held.isEmpty }

    /// Queues subscriptions.
    mutating func append(_ filters: [MQTTTopicFilter], _ qos: MQTTQoS) {
        let size = isCareful ? 1 : Self.maxFilters
        for start in stride(from: 0, to: filters.count, by: size) {
            packets.append(Packet(filters: Array(filters[start..<min(start + size, filters.count)]), qos: qos))
        }
    }

    /// Removes a filter that was not sent yet.
    mutating func remove(_ filter: MQTTTopicFilter) {
        for index in packets.indices { packets[index].filters.removeAll { $0 == filter } }
        packets.removeAll(where: \.filters.isEmpty)
    }

    /// Queues a message behind the subscriptions.
    mutating func hold(_ message: MQTTMessage, _ ticket: UInt64) {
        held.append(HeldMessage(message: message, ticket: ticket))
    }

    /// Removes the next packet to send; nil while the broker owes an answer, or if there is none.
    mutating func next() -> Packet? {
        guard unanswered == nil, !packets.isEmpty else { return nil }
        unanswered = packets.removeFirst()
        return unanswered
    }

    /// The broker has answered, or has had its time.
    mutating func answered() {
        unanswered = nil
    }

    /// Removes the messages that no longer wait.
    mutating func takeMessages() -> [HeldMessage] {
        guard packets.isEmpty, !isCareful || unanswered == nil else { return [] }
        return takeAllMessages()
    }

    /// Removes all messages: the client leaves.
    mutating func takeAllMessages() -> [HeldMessage] {
        defer { held = [] }
        return held
    }
}

extension MQTTError {
    /// The connection has ended while nothing but a SUBSCRIBE was unanswered.
    static func subscriptionEndsConnection(_ packet: SubscriptionQueue.Packet, _ error: MQTTError) -> MQTTError {
        let filters = packet.filters.map(\.description).joined(separator: ", ")
        return MQTTError(
            .subscriptionEndsConnection,
            "the broker ended the connection instead of answering the subscription to \(filters) (\(error.text))",
            underlying: error.underlying)
    }
}
