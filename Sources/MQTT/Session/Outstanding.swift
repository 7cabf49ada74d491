/// Messages and subscriptions that wait for the broker's response, by the library's packet identifier.
struct Outstanding {
    private var tickets: [Int32: UInt64] = [:]
    private var subscriptions: [Int32: [MQTTTopicFilter]] = [:]

    /// The number of unacknowledged messages.
    var messages: Int { tickets.count }

    mutating func published(_ identifier: Int32, ticket: UInt64) {
        tickets[identifier] = ticket
    }

    mutating func subscribed(_ identifier: Int32, to filters: [MQTTTopicFilter]) {
        subscriptions[identifier] = filters
    }

    /// - Returns: the ticket; nil for an unknown identifier.
    mutating func ticket(for identifier: Int32) -> UInt64? {
        tickets.removeValue(forKey: identifier)
    }

    /// - Returns: the filters that the broker has refused, each with its reason.
    mutating func refusals(
        of identifier: Int32, _ reasons: [MQTTReasonCode]
    ) -> [(filter: MQTTTopicFilter, reason: MQTTReasonCode)] {
        let filters = subscriptions.removeValue(forKey: identifier) ?? []
        return zip(filters, reasons).filter(\.1.isFailure).map { (filter: $0, reason: $1) }
    }
}
