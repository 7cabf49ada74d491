extension Outbox {
    /// The messages lost since the start.
    public struct Dropped: Hashable, Sendable {
        /// Expired or above the limit.
        public var events = 0
        /// Expired or above the limit. While the broker is connected only if it takes longer than a minute to
        /// acknowledge one.
        public var results = 0
        /// Dropped without a connection, or because the broker was too slow.
        public var streams = 0
        /// Publications that the broker refused, or for which it closed the connection.
        public var refused = 0
        /// Commands that were not accepted, see ``Intake/closed``.
        public var commands = 0

        /// The sum of all.
        public var total: Int { events + results + streams + refused + commands }
    }

    /// The messages lost since the last call of ``takeLosses()``.
    public struct Losses: Hashable, Sendable {
        /// Number of events by topic.
        public internal(set) var events: [String: Int] = [:]
        /// Number of results.
        public internal(set) var results = 0
        /// Number of commands that were not accepted.
        public internal(set) var commands = 0
        /// Number of publications that the broker refused, or for which it closed the connection.
        public internal(set) var refused = 0
        /// The topics of publications for which the broker closed two connections; at most ``maxTopics``.
        public internal(set) var closing: [String] = []

        /// Number of messages dropped since the start, ``Dropped/total``.
        public internal(set) var totalDropped = 0

        /// Upper bound of ``closing``, which is only logged.
        public static let maxTopics = 16

        /// Whether nothing was lost.
        public var isEmpty: Bool {
            events.isEmpty && results == 0 && commands == 0 && refused == 0
        }

        mutating func refused(_ topic: String?) {
            refused += 1
            if let topic, closing.count < Self.maxTopics { closing.append(topic) }
        }
    }
}

extension Outbox.Dropped {
    mutating func add(_ losses: Outbox.Losses) {
        events += losses.events.values.reduce(0, +)
        results += losses.results
        refused += losses.refused
        commands += losses.commands
    }
}

extension Outbox {
    /// A fact that is no longer published because it has ended several connections.
    public struct AbandonedFact: Hashable, Sendable {
        /// The topic.
        public let topic: String
        /// The size of the payload in bytes.
        public let bytes: Int

        /// Creates a description.
        public init(topic: String, bytes: Int) {
            self.topic = topic
            self.bytes = bytes
        }
    }

    /// The facts that are no longer published.
    public var abandoned: [AbandonedFact] { facts.abandoned.map { AbandonedFact(topic: $0.topic, bytes: $0.bytes) } }

    /// The sizes of the facts of these topics.
    public func sizes(of topics: [String]) -> [String: Int] {
        Dictionary(topics.compactMap { topic in facts.bytes(of: topic).map { (topic, $0) } }) { first, _ in first }
    }
}
