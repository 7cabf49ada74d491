import JacquardProtocol
import Text
import Time

/// The subscriptions and messages that the broker refuses.
struct RejectedTopics: Sendable {
    /// The refused filters. The bridge receives no messages for them until the next connection.
    private var subscriptions: Set<ExactText> = []
    /// The topics of refused messages with the broker's reason, and when each stops being a problem.
    private var messages: [ExactText: Instant] = [:]

    /// The topic of the latest message for which the broker closed two connections, and when it stops being a problem.
    private var closing: (topic: String, bytes: Int?, until: Instant)?
    /// The topics of messages above the size that the broker has announced. They are not published on this connection.
    private var oversized: [ExactText: MessageSize] = [:]

    /// Maximum number of stored topics, and of stored filters.
    static let maxCount = 16
    /// The first part of a topic for the text of a problem: at most 256 bytes.
    private static func shortened(_ topic: String) -> String {
        String(decoding: topic.utf8.prefix(256), as: UTF8.self)
    }

    /// Handles a new connection, which may permit what the last one refused. A message that closes connections stays
    /// dropped.
    mutating func brokerConnected() {
        subscriptions = []
        messages = [:]
        oversized = [:]
    }

    /// Handles a message that is larger than the broker accepts.
    mutating func refused(oversized topic: String, _ size: MessageSize) {
        let topic = ExactText(Self.shortened(topic))
        guard oversized[topic] != nil || oversized.count < Self.maxCount else { return }
        oversized[topic] = size
    }

    /// Handles a message that was dropped because the broker closed two connections.
    mutating func closed(by topic: String, _ bytes: Int?, at now: Instant) {
        closing = (Self.shortened(topic), bytes, now + HealthMonitor.memory)
    }

    /// Handles a refused subscription.
    mutating func refused(subscription filter: String) {
        guard subscriptions.count < Self.maxCount else { return }
        subscriptions.insert(ExactText(filter))
    }

    /// Handles a subscription that was refused and then granted.
    mutating func granted(subscription filter: String) {
        subscriptions.remove(ExactText(filter))
    }

    /// Handles a refused message.
    mutating func refused(messageTo topic: String, _ reason: String, at now: Instant) {
        let entry = ExactText("\(Self.shortened(topic)) (\(reason))")
        messages = messages.filter { $0.value > now }
        guard messages[entry] != nil || messages.count < Self.maxCount else { return }
        messages[entry] = now + HealthMonitor.memory
    }

    /// Returns one problem per subscription, and one for all messages of each kind, which names the first or the largest one.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - abandoned: the facts that are no longer published because they have ended several connections.
    ///   - prefix: Home Assistant's discovery prefix, if announcements have the device form.
    /// - Returns: the problems, in any order.
    func problems(
        at now: Instant, _ abandoned: [Outbox.AbandonedFact] = [], discovery prefix: String? = nil
    ) -> [Problem] {
        let remedy = "`jacquard2mqtt doctor` shows the missing rule"
        var problems = subscriptions.map {
            Problem(.brokerRefuses, about: $0.text, "The broker refuses the subscription \($0): \(remedy)")
        }
        let isDeviceForm = { (topic: String) in prefix.map { topic.hasPrefix($0 + "/") } ?? false }
        let largest = abandoned.max { ($0.bytes, $1.topic) < ($1.bytes, $0.topic) }
        var ending: (topic: String, bytes: Int?)? = largest.map { (Self.shortened($0.topic), $0.bytes) }
        if ending == nil, let closing, now < closing.until { ending = (closing.topic, closing.bytes) }
        if let (topic, bytes) = ending {
            let cause = Cause.messageEndsConnection(topic, bytes: bytes, isDeviceForm: isDeviceForm(topic))
            problems.append(Problem(cause, about: "closing"))
        }
        if let (topic, size) = oversized.max(by: { ($0.value.bytes, $1.key) < ($1.value.bytes, $0.key) }) {
            let cause = Cause.messageTooLarge(topic.text, size, isDeviceForm: isDeviceForm(topic.text))
            problems.append(Problem(cause, about: "size"))
        }
        if let first = messages.filter({ $0.value > now }).keys.min() {
            problems.append(Problem(.brokerRefuses, "The broker refuses messages, such as to \(first): \(remedy)"))
        }
        return problems
    }
}

/// The number of lost messages since the start, and whether the losses are a problem: those of the last ten minutes
/// are.
struct LossCounters: Sendable {
    private var events = Counter()
    private var results = Counter()
    private var commands = Counter()

    private struct Counter: Sendable {
        var count = 0
        /// When the problem ends.
        var until: Instant?

        mutating func add(_ number: Int, at now: Instant) {
            guard number > 0 else { return }
            count += number
            until = now + HealthMonitor.memory
        }

        func problem(_ subject: String, at now: Instant, _ text: (Int) -> String) -> Problem? {
            guard let until, now < until else { return nil }
            return Problem(.eventsDropped, about: subject, text(count))
        }
    }

    mutating func lost(_ new: Outbox.Losses, at now: Instant) {
        events.add(new.events.values.reduce(0, +), at: now)
        results.add(new.results, at: now)
        commands.add(new.commands, at: now)
    }

    /// Returns one problem per kind of message.
    func problems(at now: Instant) -> [Problem] {
        [
            events.problem("", at: now) {
                "\(countedWere($0, "event")) lost since the start: the broker was disconnected too long"
            },
            results.problem("results", at: now) {
                "\(countedWere($0, "result")) lost since the start: the broker was disconnected too long"
            },
            commands.problem("commands", at: now) {
                let why = "arrived faster than the broker accepts"
                return "\(countedWere($0, "command")) rejected since the start: "
                    + ($0 == 1 ? "it \(why) its result" : "they \(why) their results")
            },
        ].compactMap(\.self)
    }
}
