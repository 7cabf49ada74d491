import Time

/// The final results of the last minute, for commands that come again.
struct AnsweredCommands: Sendable {
    /// One command of one caller: an `id` counts within its topic.
    struct Key: Hashable, Sendable {
        let resultTopic: String
        let id: String
    }

    /// How long a result is kept.
    static let lifetime = Duration.seconds(60)
    /// More results than this push out the oldest: about a megabyte.
    static let most = 4_096

    private var results: [Key: (payload: [UInt8], until: Instant)] = [:]
    private var order = Queue<(key: Key, until: Instant)>()

    /// The stored result.
    func result(for key: Key, at now: Instant) -> [UInt8]? {
        results[key].flatMap { now < $0.until ? $0.payload : nil }
    }

    /// Stores a result; one that is stored already keeps its time.
    mutating func store(_ payload: [UInt8], for key: Key, at now: Instant) {
        while let oldest = order.first, oldest.until <= now || order.count >= Self.most {
            order.removeFirst()
            if let result = results[oldest.key], result.until == oldest.until { results[oldest.key] = nil }
        }
        let until = now + Self.lifetime
        results[key] = (payload, until)
        order.append((key, until))
    }
}
