import MQTTTypes
import Time

/// Plans the repetition of subscriptions that the broker has refused without a definite reason.
///
/// A cluster refuses subscriptions while it elects a leader, and MQTT 3.1.1 has one reason for everything. So such a
/// subscription is repeated on the same connection, after pauses that double. A definite reason, such as
/// `not_authorized`, is final.
struct SubscriptionRetries {
    /// The meaning of a response of the broker.
    enum Outcome: Equatable {
        /// The subscription works, and there is nothing to report.
        case granted
        /// The subscription works after it was refused.
        case grantedLate
        /// It is refused for the first time on this connection.
        case refused
        /// It is refused again.
        case refusedAgain
    }

    /// A subscription to repeat.
    struct Subscription: Hashable {
        let filter: MQTTTopicFilter
        let qos: MQTTQoS
    }

    private struct Entry {
        let qos: MQTTQoS
        var pause: Duration
        /// nil while the answer to a repetition is pending, and for a final refusal.
        var due: Instant?
    }

    private var entries: [MQTTTopicFilter: Entry] = [:]

    /// The first pause.
    static let shortest = Duration.seconds(1)
    /// The longest pause.
    static let longest = Duration.seconds(60)

    /// When the next repetition is due; nil if there is none.
    var deadline: Instant? { entries.values.compactMap(\.due).min() }

    /// The broker has answered a subscription.
    mutating func answered(
        _ subscription: Subscription, _ reason: MQTTReasonCode, at now: Instant
    ) -> Outcome {
        let filter = subscription.filter
        guard reason.isFailure else { return entries.removeValue(forKey: filter) == nil ? .granted : .grantedLate }
        let former = entries[filter]
        let pause = former.map { min($0.pause * 2, Self.longest) } ?? Self.shortest
        entries[filter] = Entry(qos: subscription.qos, pause: pause, due: reason.isDefinite ? nil : now + pause)
        return former == nil ? .refused : .refusedAgain
    }

    /// Removes a filter that is no longer used.
    mutating func unsubscribed(_ filter: MQTTTopicFilter) {
        entries[filter] = nil
    }

    /// The subscriptions to repeat now.
    mutating func due(at now: Instant) -> [Subscription] {
        let filters = entries.filter { $0.value.due.map { $0 <= now } ?? false }.keys
        return filters.sorted { $0.description < $1.description }.compactMap { filter in
            entries[filter]?.due = nil
            return entries[filter].map { Subscription(filter: filter, qos: $0.qos) }
        }
    }
}

extension MQTTReasonCode {
    /// Whether the same subscription would be refused again. Of the reasons of a SUBACK, these are not definite:
    /// unspecified error (the only one of MQTT 3.1.1), implementation specific error, packet identifier in use, quota
    /// exceeded. Source: MQTT 5.0, section 3.9.3.
    fileprivate var isDefinite: Bool { ![0x80, 0x83, 0x91, 0x97].contains(rawValue) }
}
