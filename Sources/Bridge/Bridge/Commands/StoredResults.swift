import JacquardProtocol
import Time

/// Stores the final results of the last minute, to answer repeated commands.
struct StoredResults: Sendable {
    /// Identifies a command: its `id` is unique within the command's topic. Texts are compared as bytes.
    struct Key: Hashable, Sendable {
        private let resultTopic: ExactText
        private let id: ExactText
        /// Whether it reads what another command with the same result topic sets.
        private let isReading: Bool

        init(resultTopic: String, id: String, isReading: Bool = false) {
            self.resultTopic = ExactText(resultTopic)
            self.id = ExactText(id)
            self.isReading = isReading
        }

        /// Size in bytes.
        fileprivate var size: Int { resultTopic.text.utf8.count + id.text.utf8.count }
    }

    private struct Entry: Sendable {
        let key: Key
        let until: Instant
        let size: Int
    }

    /// How long a result is stored, unless the limits below remove it earlier.
    static let lifetime = Duration.seconds(60)
    /// Maximum number of results. The oldest is removed first.
    static let maxCount = 4_096
    /// Maximum size of results and keys in bytes. The oldest is removed first; the newest is kept whatever its size.
    static let maxBytes = 2 << 20

    private var results: [Key: (payload: [UInt8], until: Instant)] = [:]
    private var order = Queue<Entry>()
    private var bytes = 0

    /// Returns the stored result, if any.
    func result(for key: Key, at now: Instant) -> [UInt8]? {
        results[key].flatMap { now < $0.until ? $0.payload : nil }
    }

    /// Stores a result, unless one is already stored for the key.
    mutating func store(_ payload: [UInt8], for key: Key, at now: Instant) {
        guard result(for: key, at: now) == nil else { return }
        let entry = Entry(key: key, until: now + Self.lifetime, size: payload.count + key.size)
        while let oldest = order.first,
            oldest.until <= now || order.count >= Self.maxCount || bytes + entry.size > Self.maxBytes
        {
            removeOldest()
        }
        results[key] = (payload, entry.until)
        order.append(entry)
        bytes += entry.size
    }

    private mutating func removeOldest() {
        guard let oldest = order.removeFirst() else { return }
        bytes -= oldest.size
        if let result = results[oldest.key], result.until == oldest.until { results[oldest.key] = nil }
    }
}
