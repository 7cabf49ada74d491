import Time

/// What waits for its turn, in order: topics whose latest fact is to be sent, and messages that may grow too old.
struct Backlog: Sendable {
    /// One place in the line.
    enum Item: Sendable {
        case fact(topic: String)
        case message(Waiting)
    }

    private let mostEvents: Int
    private let mostResults: Int
    private var line = Queue<Item>()
    private var events = 0
    private var results = 0
    /// No message expires before this.
    private var nextExpiry: Instant?

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
    mutating func append(_ waiting: Waiting, at now: Instant) {
        dropExpiredFront(at: now)
        if isFull(for: waiting), let nextExpiry, nextExpiry <= now { replaceMessages(messages, at: now) }
        guard !isFull(for: waiting) else { return drop(waiting) }
        add(waiting)
    }

    /// Takes the first that has not expired.
    mutating func popFirst(at now: Instant) -> Item? {
        while let item = line.removeFirst() {
            guard case .message(let waiting) = item else { return item }
            count(waiting, by: -1)
            guard waiting.isExpired(at: now) else { return item }
            drop(waiting)
        }
        return nil
    }

    /// The connection is gone: facts leave the line, and what it took along unacknowledged stands in front again.
    mutating func disconnected(unacknowledged: [Waiting], at now: Instant) {
        replaceMessages(unacknowledged + messages, at: now)
    }

    /// A connection is there: all facts stand in front. What has expired leaves now, so that it can be told now: behind the
    /// facts it might not come to its turn for long.
    mutating func connected(factTopics: [String], at now: Instant) {
        let messages = messages
        replaceMessages([], at: now)
        for topic in factTopics { append(factTopic: topic) }
        addAll(messages, at: now)
    }

    /// How many events of each topic were dropped since the last time.
    mutating func takeDroppedEvents() -> [String: Int] {
        defer { droppedByTopic = [:] }
        return droppedByTopic
    }
}

extension Backlog {
    private var messages: [Waiting] {
        line.all.compactMap { item in
            if case .message(let waiting) = item { waiting } else { nil }
        }
    }

    /// Puts these in line instead of everything, without those that have expired.
    private mutating func replaceMessages(_ messages: [Waiting], at now: Instant) {
        line.replaceAll([])
        (events, results, nextExpiry) = (0, 0, nil)
        addAll(messages, at: now)
    }

    private mutating func addAll(_ messages: [Waiting], at now: Instant) {
        for waiting in messages {
            if waiting.isExpired(at: now) { drop(waiting) } else { add(waiting) }
        }
    }

    /// Drops what has grown too old at the front, where the oldest are: no event is looked at twice.
    private mutating func dropExpiredFront(at now: Instant) {
        while case .message(let waiting)? = line.first, waiting.isExpired(at: now) {
            line.removeFirst()
            count(waiting, by: -1)
            drop(waiting)
        }
    }

    private mutating func add(_ waiting: Waiting) {
        line.append(.message(waiting))
        count(waiting, by: 1)
        nextExpiry.lower(to: waiting.expiry)
    }

    private func isFull(for waiting: Waiting) -> Bool {
        if case .result = waiting.message.kind { results >= mostResults } else { events >= mostEvents }
    }

    private mutating func count(_ waiting: Waiting, by change: Int) {
        if case .result = waiting.message.kind { results += change } else { events += change }
    }

    private mutating func drop(_ waiting: Waiting) {
        if case .result = waiting.message.kind {
            droppedResults += 1
        } else {
            droppedEvents += 1
            droppedByTopic[waiting.message.topic, default: 0] += 1
        }
    }
}
