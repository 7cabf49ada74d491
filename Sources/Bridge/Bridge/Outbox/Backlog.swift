import MQTTTypes
import Time

/// The queued messages: facts and events in one queue, results in another.
///
/// Facts and events are sent first, so that results of many commands don't delay a gesture.
struct Backlog: Sendable {
    /// An entry of a queue.
    enum Item: Sendable {
        case fact(topic: String)
        case message(Waiting)
    }

    /// Upper bounds of the queued bytes.
    struct Limits: Sendable {
        let events: Int
        /// Applies only without a connection: with one, results are never dropped, see ``Outbox/intake``.
        let results: Int
    }

    private let limits: Limits
    private var line = Queue<Item>()
    private var results = Queue<Waiting>()
    private var eventBytes = 0
    private(set) var resultBytes = 0
    /// Whether more than ``long`` messages were queued since the queues were empty.
    private var isLong = false
    /// From this number of messages on, the memory of the queues is worth giving back.
    private static let long = 1_000
    /// No queued message expires before this time.
    private var nextExpiry: Instant?
    private(set) var losses = Outbox.Losses()
    /// The dropped gestures since the last call of ``takeDroppedGestures()``, which follows each call of another method.
    private var droppedGestures: [(gesture: GestureMark, outcome: GestureTrace.Outcome)] = []

    init(_ limits: Limits) {
        self.limits = limits
    }

    var isEmpty: Bool { line.isEmpty && results.isEmpty }

    /// Whether a fact or an event can be sent without overtaking another one.
    var hasOnlyResults: Bool { line.isEmpty }

    var count: Int { line.count + results.count }

    /// Queues the topic of a fact.
    mutating func append(factTopic topic: String) {
        line.append(.fact(topic: topic))
    }

    /// Queues a message, or drops it if the messages of its kind are at their limit.
    mutating func append(_ waiting: Waiting, isConnected: Bool, at now: Instant) {
        dropExpiredFront(at: now)
        guard isFull(for: waiting, isConnected) else { return add(waiting) }
        if let nextExpiry, nextExpiry <= now { replaceMessages(messages, at: now) }
        if isFull(for: waiting, isConnected) { drop(waiting, as: .dropped) } else { add(waiting) }
    }

    /// Returns the first item that has not expired. ``removeFirst()`` removes it.
    mutating func first(at now: Instant) -> Item? {
        dropExpiredFront(at: now)
        return line.first ?? results.first.map(Item.message)
    }

    /// Removes the first item.
    mutating func removeFirst() {
        guard let item = line.removeFirst() ?? results.removeFirst().map(Item.message) else { return }
        if case .message(let waiting) = item { count(waiting, by: -1) }
    }

    /// Handles the end of a connection: facts and corrections leave the queue, and other unacknowledged messages return
    /// to its front.
    mutating func disconnected(unacknowledged: [Waiting], at now: Instant) {
        replaceMessages((unacknowledged + messages).filter { !$0.isCorrection }, at: now)
    }

    /// Handles a broker that the bridge leaves for another one. With a connection it removes and returns all messages, otherwise it
    /// drops the results.
    mutating func left(isConnected: Bool, at now: Instant) -> [Waiting] {
        let (all, others) = (messages, messages.filter { !$0.isResult })
        if !isConnected { for result in results.all { drop(result, as: .dropped) } }
        replaceMessages(isConnected ? [] : others, at: now)
        return isConnected ? all.filter { !$0.isExpired(at: now) } : []
    }

    /// Handles a new connection: all facts are queued first. Expired messages are dropped now rather than when they are
    /// sent, so that losses are reported without delay.
    mutating func connected(factTopics: [String], at now: Instant) {
        let messages = messages
        replaceMessages([], at: now)
        for topic in factTopics { append(factTopic: topic) }
        addAll(messages, at: now)
    }

    /// Returns whether long queues have emptied since the last call.
    mutating func takeEmptied() -> Bool {
        guard isLong, isEmpty else { return false }
        isLong = false
        return true
    }

    /// Counts a message that the broker has refused, or for which it closed the connection.
    mutating func refused(_ topic: String?) {
        losses.refused(topic)
    }

    /// Counts a command that was not accepted.
    mutating func commandDropped() {
        losses.commands += 1
    }

    /// The queued gestures.
    var gestures: [GestureMark] { messages.map(\.publication.gesture).filter(\.isGesture) }

    /// Returns the gestures that were dropped since the last call.
    mutating func takeDroppedGestures() -> [(gesture: GestureMark, outcome: GestureTrace.Outcome)] {
        guard !droppedGestures.isEmpty else { return [] }
        defer { droppedGestures = [] }
        return droppedGestures
    }

    /// Returns the losses since the last call.
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

    /// Replaces the queues with the messages that have not expired.
    private mutating func replaceMessages(_ messages: [Waiting], at now: Instant) {
        line.replaceAll([])
        results.replaceAll([])
        (eventBytes, resultBytes, nextExpiry) = (0, 0, nil)
        addAll(messages, at: now)
    }

    private mutating func addAll(_ messages: [Waiting], at now: Instant) {
        for waiting in messages {
            if waiting.isExpired(at: now) { drop(waiting, as: .expired) } else { add(waiting) }
        }
    }

    /// Drops expired messages from the front of each queue, which holds the oldest. Each message is examined at most
    /// once.
    private mutating func dropExpiredFront(at now: Instant) {
        while case .message(let waiting)? = line.first, waiting.isExpired(at: now) {
            line.removeFirst()
            count(waiting, by: -1)
            drop(waiting, as: .expired)
        }
        while let waiting = results.first, waiting.isExpired(at: now) {
            results.removeFirst()
            count(waiting, by: -1)
            drop(waiting, as: .expired)
        }
    }

    private mutating func add(_ waiting: Waiting) {
        if waiting.isResult { results.append(waiting) } else { line.append(.message(waiting)) }
        count(waiting, by: 1)
        if count > Self.long { isLong = true }
        nextExpiry.lower(to: waiting.expiry)
    }

    private func isFull(for waiting: Waiting, _ isConnected: Bool) -> Bool {
        waiting.isResult ? !isConnected && resultBytes >= limits.results : eventBytes >= limits.events
    }

    private mutating func count(_ waiting: Waiting, by sign: Int) {
        if waiting.isResult { resultBytes += sign * waiting.bytes } else { eventBytes += sign * waiting.bytes }
    }

    private mutating func drop(_ waiting: Waiting, as outcome: GestureTrace.Outcome) {
        if waiting.isCorrection { return }
        if waiting.publication.gesture.isGesture { droppedGestures.append((waiting.publication.gesture, outcome)) }
        if waiting.isResult {
            losses.results += 1
        } else {
            losses.events[waiting.publication.topic, default: 0] += 1
        }
    }
}

/// A queued or unacknowledged message with its expiry.
struct Waiting: Equatable, Sendable {
    var publication: Publication
    /// When it expires.
    let expiry: Instant
    /// Whether it was in flight when the broker closed a connection, and may be the cause.
    var isSuspect = false

    /// Starts the message's lifetime.
    init(_ publication: Publication, at now: Instant) {
        self.publication = publication
        expiry = now + publication.lifetime
    }

    func isExpired(at now: Instant) -> Bool { expiry <= now }

    /// Whether it is the result of a command.
    var isResult: Bool {
        if case .result = publication.kind { true } else { false }
    }

    /// Whether it is a fact of another bridge.
    var isCorrection: Bool {
        if case .correction = publication.kind { true } else { false }
    }

    /// Estimated memory: the texts and a fixed overhead.
    var bytes: Int {
        publication.topic.utf8.count + publication.payload.count
            + (publication.message.correlationData?.count ?? 0) + Self.overhead
    }

    /// The message itself and the headers of its buffers.
    static let overhead = 256

    /// Returns the message with the rest of its lifetime as message expiry, in whole seconds, at least one.
    func shortened(at now: Instant) -> Publication {
        guard let seconds = publication.message.messageExpirySeconds else { return publication }
        let milliseconds = max(1, (expiry - now).milliseconds)
        var copy = publication
        copy.message.messageExpirySeconds = min(seconds, UInt32(clamping: (milliseconds + 999) / 1_000))
        return copy
    }
}

extension Publication {
    /// How long it may be queued; facts, reminders and streams are not queued.
    fileprivate var lifetime: Duration {
        switch kind {
        case .event(let lifetime), .result(let lifetime), .correction(let lifetime): lifetime
        case .fact, .step, .reminder, .stream: .zero
        }
    }
}
