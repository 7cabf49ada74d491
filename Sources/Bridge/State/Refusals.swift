import Time

/// What the broker refuses.
struct Refusals: Sendable {
    /// On these the bridge is deaf until the next connection.
    private var subscriptions: Set<ExactText> = []
    /// The topics of refused messages with the broker's reason, and since when they are not a problem any more.
    private var messages: [ExactText: Instant] = [:]

    /// The topic of the latest message that made the broker close two connections, and until when that is a problem.
    private var closing: (topic: String, until: Instant)?

    /// Upper bound of the refused topics, and of the refused filters, that are kept.
    static let most = 16
    /// The beginning of a topic, as the text of a problem has it: at most 256 bytes.
    private static func shortened(_ topic: String) -> String {
        String(decoding: topic.utf8.prefix(256), as: UTF8.self)
    }

    /// Another connection may allow what the last one did not. A message that closes connections stays dropped.
    mutating func brokerConnected() {
        subscriptions = []
        messages = [:]
    }

    /// The broker has closed two connections because of a message, which was dropped.
    mutating func closed(by topic: String, at now: Instant) {
        closing = (Self.shortened(topic), now + HealthBook.memory)
    }

    /// A subscription was refused.
    mutating func refused(subscription filter: String) {
        guard subscriptions.count < Self.most else { return }
        subscriptions.insert(ExactText(filter))
    }

    /// A message was refused.
    mutating func refused(messageTo topic: String, _ reason: String, at now: Instant) {
        let entry = ExactText("\(Self.shortened(topic)) (\(reason))")
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
        if let closing, now < closing.until {
            let text =
                "The broker closes the connection when it receives a message to \(closing.topic), which was dropped"
            problems.append(
                Problem(.brokerRefuses, about: "closing", text + ": look at the broker's log and its limits"))
        }
        if let first = messages.filter({ $0.value > now }).keys.min() {
            problems.append(Problem(.brokerRefuses, "The broker refuses messages, such as to \(first): \(remedy)"))
        }
        return problems
    }
}
