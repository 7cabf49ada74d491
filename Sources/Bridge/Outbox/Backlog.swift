/// What waits for its turn, in order: topics whose latest fact is to be sent, and messages that may grow too old.
struct Backlog: Sendable {
    /// One place in the line.
    enum Item: Sendable {
        case fact(topic: String)
        case message(Publication)
    }

    private let mostEvents: Int
    private let mostResults: Int
    private var line = Queue<Item>()
    private var events = 0
    private var results = 0
    /// No message expires before this.
    private var nextExpiry: ContinuousClock.Instant?

    private(set) var droppedEvents = 0
    private(set) var droppedResults = 0
    private var droppedByTopic: [String: Int] = [:]

    init(mostEvents: Int, mostResults: Int) {
        self.mostEvents = mostEvents
        self.mostResults = mostResults
    }

    var isEmpty: Bool { line.isEmpty }

    var count: Int { line.count }

    /// Puts the topic of a fact in line.
    mutating func append(factTopic topic: String) {
        line.append(.fact(topic: topic))
    }

    /// Puts a message in line; drops it when too many of its kind are there.
    mutating func append(_ message: Publication, at now: ContinuousClock.Instant) {
        dropExpiredFront(at: now)
        if isFull(for: message), let nextExpiry, nextExpiry <= now { replaceMessages(messages, at: now) }
        guard !isFull(for: message) else { return drop(message) }
        add(message)
    }

    /// Takes the first that has not expired.
    mutating func popFirst(at now: ContinuousClock.Instant) -> Item? {
        while let item = line.removeFirst() {
            guard case .message(let message) = item else { return item }
            count(message, by: -1)
            guard message.isExpired(at: now) else { return item }
            drop(message)
        }
        return nil
    }

    /// The connection is gone: facts leave the line, and what it took along unacknowledged stands in front again.
    mutating func disconnected(unacknowledged: [Publication], at now: ContinuousClock.Instant) {
        replaceMessages(unacknowledged + messages, at: now)
    }

    /// A connection is there: all facts stand in front.
    mutating func connected(factTopics: [String], at now: ContinuousClock.Instant) {
        let messages = messages
        replaceMessages([], at: now)
        for topic in factTopics { append(factTopic: topic) }
        for message in messages { add(message) }
    }

    /// How many events of each topic were dropped since the last time.
    mutating func takeDroppedEvents() -> [String: Int] {
        defer { droppedByTopic = [:] }
        return droppedByTopic
    }
}

extension Backlog {
    private var messages: [Publication] {
        line.all.compactMap { item in
            if case .message(let message) = item { message } else { nil }
        }
    }

    /// Puts these in line instead of everything, without those that have expired.
    private mutating func replaceMessages(_ messages: [Publication], at now: ContinuousClock.Instant) {
        line.replaceAll([])
        (events, results, nextExpiry) = (0, 0, nil)
        for message in messages {
            if message.isExpired(at: now) { drop(message) } else { add(message) }
        }
    }

    /// Drops what has grown too old at the front, where the oldest are: no event is looked at twice.
    private mutating func dropExpiredFront(at now: ContinuousClock.Instant) {
        while case .message(let message)? = line.first, message.isExpired(at: now) {
            line.removeFirst()
            count(message, by: -1)
            drop(message)
        }
    }

    private mutating func add(_ message: Publication) {
        line.append(.message(message))
        count(message, by: 1)
        if let expiry = message.expiry { nextExpiry = nextExpiry.map { min($0, expiry) } ?? expiry }
    }

    private func isFull(for message: Publication) -> Bool {
        if case .result = message.kind { results >= mostResults } else { events >= mostEvents }
    }

    private mutating func count(_ message: Publication, by change: Int) {
        if case .result = message.kind { results += change } else { events += change }
    }

    private mutating func drop(_ message: Publication) {
        if case .result = message.kind {
            droppedResults += 1
        } else {
            droppedEvents += 1
            droppedByTopic[message.topic, default: 0] += 1
        }
    }
}

extension Publication {
    /// When it is too old; nil for facts and streams.
    var expiry: ContinuousClock.Instant? {
        switch kind {
        case .event(let expires), .result(let expires): expires
        case .fact, .stream: nil
        }
    }

    func isExpired(at now: ContinuousClock.Instant) -> Bool {
        expiry.map { $0 <= now } ?? false
    }

    /// The message as it is to be sent after it has waited: the rest of its life, in whole seconds, at least one.
    func shortened(at now: ContinuousClock.Instant) -> Publication {
        guard let messageExpirySeconds, let expiry else { return self }
        let milliseconds = max(1, now.duration(to: expiry).wholeMilliseconds)
        var copy = self
        copy.messageExpirySeconds = min(messageExpirySeconds, UInt32(clamping: (milliseconds + 999) / 1_000))
        return copy
    }
}
