import Time

/// What the broker does not let the bridge do on the present connection.
struct Refusals: Sendable {
    /// On these the bridge is deaf until the next connection.
    private var subscriptions: Set<ExactText> = []
    /// The topics of refused messages with the broker's reason, and since when they are not a problem any more.
    private var messages: [ExactText: Instant] = [:]

    /// The most subscriptions, and the most topics of messages, that are remembered.
    static let most = 16

    /// A subscription was refused.
    mutating func refused(subscription filter: String) {
        guard subscriptions.count < Self.most else { return }
        subscriptions.insert(ExactText(filter))
    }

    /// A message was refused.
    mutating func refused(messageTo topic: String, _ reason: String, at now: Instant) {
        let entry = ExactText("\(topic) (\(reason))")
        messages = messages.filter { $0.value > now }
        guard messages[entry] != nil || messages.count < Self.most else { return }
        messages[entry] = now + HealthBook.memory
    }

    /// One problem for each subscription, and one for all messages, which names the first topic.
    func problems(at now: Instant) -> [Problem] {
        let remedy = "`jacquard2mqtt doctor` names the rule that is missing"
        var problems = subscriptions.map {
            Problem(.brokerRefuses, about: $0.text, "The broker refuses the subscription \($0): \(remedy)")
        }
        if let first = messages.filter({ $0.value > now }).keys.min() {
            problems.append(Problem(.brokerRefuses, "The broker refuses messages, such as to \(first): \(remedy)"))
        }
        return problems
    }
}
