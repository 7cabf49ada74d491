/// The latest fact of each topic, in the order in which the topics first appeared.
struct FactMirror: Sendable {
    private enum Progress {
        /// The broker of this connection does not have it.
        case stale
        /// In line.
        case waiting
        /// Handed to the client on this connection.
        case published
    }

    private var topics: [String] = []
    private var facts: [String: (publication: Publication, progress: Progress)] = [:]

    /// Keeps a fact.
    ///
    /// - Returns: whether it has to be sent or put in line: not if the broker has the same, and not if the topic is in
    ///   line already.
    mutating func keep(_ publication: Publication) -> Bool {
        guard let known = facts[publication.topic] else {
            topics.append(publication.topic)
            facts[publication.topic] = (publication, .stale)
            return true
        }
        if known.progress == .published, known.publication == publication { return false }
        let isWaiting = known.progress == .waiting
        facts[publication.topic] = (publication, isWaiting ? .waiting : .stale)
        return !isWaiting
    }

    /// The broker may have to get the topic's fact once more.
    mutating func repeats(_ topic: String) {
        if facts[topic]?.progress == .published { facts[topic]?.progress = .stale }
    }

    /// The topic's fact is put in line.
    mutating func waits(_ topic: String) {
        facts[topic]?.progress = .waiting
    }

    /// The latest fact of a topic, which the client gets now.
    mutating func publish(_ topic: String) -> Publication? {
        facts[topic]?.progress = .published
        return facts[topic]?.publication
    }

    /// The broker has taken back the fact of a topic: unless there is another one by now, nothing is kept of it.
    mutating func cleared(_ topic: String) {
        guard let known = facts[topic], known.progress == .published, known.publication.isClearing else { return }
        facts[topic] = nil
        topics.removeAll { $0 == topic }
    }

    /// The connection is gone, and with it what the broker was told.
    mutating func forgetProgress() {
        for topic in topics { facts[topic]?.progress = .stale }
    }

    /// Puts everything in line, in order.
    mutating func putAllInLine() -> [String] {
        for topic in topics { waits(topic) }
        return topics
    }
}
