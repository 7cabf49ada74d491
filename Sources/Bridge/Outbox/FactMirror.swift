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

    /// What of a publication makes a fact; it neither expires nor answers anybody. Every tag has ten, so it is small.
    private struct Fact {
        let payload: [UInt8]
        let qos: UInt8
        var progress: Progress

        func says(_ publication: Publication) -> Bool {
            qos == publication.qos && payload == publication.payload
        }
    }

    private var topics: [String] = []
    private var facts: [String: Fact] = [:]

    /// Keeps a fact.
    ///
    /// - Returns: whether it has to be sent or put in line: not if the broker has the same, and not if the topic is in
    ///   line already.
    mutating func keep(_ publication: Publication) -> Bool {
        let known = facts[publication.topic]
        if known == nil { topics.append(publication.topic) }
        if let known, known.progress == .published, known.says(publication) { return false }
        let isWaiting = known?.progress == .waiting
        facts[publication.topic] = Fact(
            payload: publication.payload, qos: publication.qos, progress: isWaiting ? .waiting : .stale)
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
        return facts[topic].map { Publication(topic: topic, payload: $0.payload, qos: $0.qos, kind: .fact) }
    }

    /// The broker has taken back the fact of a topic: unless there is another one by now, nothing is kept of it.
    mutating func cleared(_ topic: String) {
        guard let known = facts[topic], known.progress == .published, known.payload.isEmpty else { return }
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
