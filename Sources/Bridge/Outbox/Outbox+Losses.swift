extension Outbox {
    /// What was lost since the start.
    public struct Dropped: Hashable, Sendable {
        /// Expired, or above the limit.
        public var events = 0
        /// Expired, or above the limit; never while the broker is connected, unless it takes a minute for one.
        public var results = 0
        /// No connection, or a broker that does not keep up.
        public var streams = 0
        /// Publications that the broker refused, or that made it close the connection.
        public var refused = 0
        /// Commands that were not taken, see ``Intake/closed``.
        public var commands = 0

        /// All of them.
        public var total: Int { events + results + streams + refused + commands }
    }

    /// What was lost since the last call of ``takeLosses()``.
    public struct Losses: Hashable, Sendable {
        /// Events by topic.
        public internal(set) var events: [String: Int] = [:]
        /// How many results.
        public internal(set) var results = 0
        /// How many commands were not taken.
        public internal(set) var commands = 0
        /// How many publications the broker refused, or closed the connection for.
        public internal(set) var refused = 0
        /// The topics of publications that made the broker close two connections; no more than ``mostTopics``.
        public internal(set) var closing: [String] = []

        /// Upper bound of ``closing``: they are for the log.
        public static let mostTopics = 16

        /// Whether nothing was lost.
        public var isEmpty: Bool {
            events.isEmpty && results == 0 && commands == 0 && refused == 0
        }

        mutating func refused(_ topic: String?) {
            refused += 1
            if let topic, closing.count < Self.mostTopics { closing.append(topic) }
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
