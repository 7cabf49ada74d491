import Time

/// What waits for its turn: topics whose latest fact is to be published and events in one line, results in another.
///
/// Facts and events go first, so that a flood of commands does not delay a gesture by the results that it causes.
struct Backlog: Sendable {
    /// One place in line.
    enum Item: Sendable {
        case fact(topic: String)
        case message(Waiting)
    }

    /// Upper bounds of what waits, in bytes.
    struct Limits: Sendable {
        let events: Int
        /// Holds without a connection only: with one results are never dropped, see ``Outbox/intake``.
        let results: Int
    }

    private let limits: Limits
    private var line = Queue<Item>()
    private var results = Queue<Waiting>()
    private var eventBytes = 0
    private(set) var resultBytes = 0
    /// No message in line expires before this.
    private var nextExpiry: Instant?
    private(set) var losses = Outbox.Losses()

    init(_ limits: Limits) {
        self.limits = limits
    }

    var isEmpty: Bool { line.isEmpty && results.isEmpty }

    /// Whether a fact or an event would not overtake another one.
    var hasOnlyResults: Bool { line.isEmpty }

    var count: Int { line.count + results.count }

    /// Appends the topic of a fact.
    mutating func append(factTopic topic: String) {
        line.append(.fact(topic: topic))
    }

    /// Appends a message; drops it if the messages of its kind are at their limit.
    mutating func append(_ waiting: Waiting, isConnected: Bool, at now: Instant) {
        dropExpiredFront(at: now)
        guard isFull(for: waiting, isConnected) else { return add(waiting) }
        if let nextExpiry, nextExpiry <= now { replaceMessages(messages, at: now) }
        if isFull(for: waiting, isConnected) { drop(waiting) } else { add(waiting) }
    }

    /// The first item that has not expired, which ``removeFirst()`` removes.
    mutating func first(at now: Instant) -> Item? {
        dropExpiredFront(at: now)
        return line.first ?? results.first.map(Item.message)
    }

    /// Removes the first item.
    mutating func removeFirst() {
        guard let item = line.removeFirst() ?? results.removeFirst().map(Item.message) else { return }
        if case .message(let waiting) = item { count(waiting, by: -1) }
    }

    /// The connection has ended: facts leave the line, and the messages that were not acknowledged return to its front.
    mutating func disconnected(unacknowledged: [Waiting], at now: Instant) {
        replaceMessages(unacknowledged + messages, at: now)
    }

    /// There is a connection: all facts go first. Expired messages are dropped now and not when their turn comes, so that
    /// they are reported without delay.
    mutating func connected(factTopics: [String], at now: Instant) {
        let messages = messages
        replaceMessages([], at: now)
        for topic in factTopics { append(factTopic: topic) }
        addAll(messages, at: now)
    }

    /// Counts a message that the broker has refused, or that made it close the connection.
    mutating func refused(_ topic: String?) {
        losses.refused(topic)
    }

    /// Counts a command that was not taken.
    mutating func commandDropped() {
        losses.commands += 1
    }

    /// What was lost since the last call.
    mutating func takeLosses() -> Outbox.Losses {
        defer { losses = Outbox.Losses() }
        return losses
    }
}

extension Backlog {
    private var messages: [Waiting] {
        line.all.compactMap { item in
            if case .message(let waiting) = item { waiting } else { nil }
        } + results.all
    }

    /// Puts these in line instead of everything, without those that have expired.
    private mutating func replaceMessages(_ messages: [Waiting], at now: Instant) {
        line.replaceAll([])
        results.replaceAll([])
        (eventBytes, resultBytes, nextExpiry) = (0, 0, nil)
        addAll(messages, at: now)
    }

    private mutating func addAll(_ messages: [Waiting], at now: Instant) {
        for waiting in messages {
            if waiting.isExpired(at: now) { drop(waiting) } else { add(waiting) }
        }
    }

    /// Drops what has expired at the front of each line, where the oldest messages are: none is examined twice.
    private mutating func dropExpiredFront(at now: Instant) {
        while case .message(let waiting)? = line.first, waiting.isExpired(at: now) {
            line.removeFirst()
            count(waiting, by: -1)
            drop(waiting)
        }
        while let waiting = results.first, waiting.isExpired(at: now) {
            results.removeFirst()
            count(waiting, by: -1)
            drop(waiting)
        }
    }

    private mutating func add(_ waiting: Waiting) {
        if waiting.isResult { results.append(waiting) } else { line.append(.message(waiting)) }
        count(waiting, by: 1)
        nextExpiry.lower(to: waiting.expiry)
    }

    private func isFull(for waiting: Waiting, _ isConnected: Bool) -> Bool {
        waiting.isResult ? !isConnected && resultBytes >= limits.results : eventBytes >= limits.events
    }

    private mutating func count(_ waiting: Waiting, by sign: Int) {
        if waiting.isResult { resultBytes += sign * waiting.bytes } else { eventBytes += sign * waiting.bytes }
    }

    private mutating func drop(_ waiting: Waiting) {
        if waiting.isResult {
            losses.results += 1
        } else {
            losses.events[waiting.message.topic, default: 0] += 1
        }
    }
}
