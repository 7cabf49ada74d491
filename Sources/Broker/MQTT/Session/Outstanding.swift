import MQTTTypes

/// Messages and subscriptions that wait for the broker's response, by the library's packet identifier.
struct Outstanding {
    private var tickets: [Int32: UInt64] = [:]
    private var subscriptions: [Int32: [SubscriptionRetries.Subscription]] = [:]

    /// The number of unacknowledged messages.
    var messages: Int { tickets.count }

    /// Whether something was published since ``written()``.
    private(set) var isUnwritten = false

    mutating func written() {
        isUnwritten = false
    }

    mutating func published(_ identifier: Int32, ticket: UInt64) {
        isUnwritten = true
        tickets[identifier] = ticket
    }

    mutating func subscribed(_ identifier: Int32, to filters: [MQTTTopicFilter], _ qos: MQTTQoS) {
        subscriptions[identifier] = filters.map { .init(filter: $0, qos: qos) }
    }

    /// - Returns: the ticket; nil for an unknown identifier.
    mutating func ticket(for identifier: Int32) -> UInt64? {
        tickets.removeValue(forKey: identifier)
    }

    /// - Returns: the subscriptions that the broker has answered, each with its reason.
    mutating func answers(
        of identifier: Int32, _ reasons: [MQTTReasonCode]
    ) -> [(subscription: SubscriptionRetries.Subscription, reason: MQTTReasonCode)] {
        let subscriptions = subscriptions.removeValue(forKey: identifier) ?? []
        return zip(subscriptions, reasons).map { (subscription: $0, reason: $1) }
    }
}
