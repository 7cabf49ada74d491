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
        /// Where its topic is in ``order``.
        let place: Int

        func says(_ publication: Publication) -> Bool {
            qos == publication.qos && payload == publication.payload
        }
    }

    /// The topics; nil where one was taken out. More than half of it is never nil, but for a few.
    private var order: [ExactText?] = []
    private var facts: [ExactText: Fact] = [:]

    /// Keeps a fact.
    ///
    /// - Returns: whether it has to be sent or put in line: not if the broker has the same, and not if the topic is in
    ///   line already.
    mutating func keep(_ publication: Publication) -> Bool {
        let topic = ExactText(publication.topic)
        let known = facts[topic]
        if known == nil { order.append(topic) }
        if let known, known.progress == .published, known.says(publication) { return false }
        let isWaiting = known?.progress == .waiting
        facts[topic] = Fact(
            payload: publication.payload, qos: publication.qos, progress: isWaiting ? .waiting : .stale,
            place: known?.place ?? order.count - 1)
        return !isWaiting
    }

    /// The broker may have to get the topic's fact once more.
    mutating func repeats(_ topic: String) {
        let topic = ExactText(topic)
        if facts[topic]?.progress == .published { facts[topic]?.progress = .stale }
    }

    /// The topic's fact is put in line.
    mutating func waits(_ topic: String) {
        facts[ExactText(topic)]?.progress = .waiting
    }

    /// The latest fact of a topic, which the client gets now.
    mutating func publish(_ topic: String) -> Publication? {
        let key = ExactText(topic)
        facts[key]?.progress = .published
        return facts[key].map { Publication(topic: topic, payload: $0.payload, qos: $0.qos, kind: .fact) }
    }

    /// The broker has taken back the fact of a topic: unless there is another one by now, nothing is kept of it.
    mutating func cleared(_ topic: String) {
        let key = ExactText(topic)
        guard let known = facts[key], known.progress == .published, known.payload.isEmpty else { return }
        facts[key] = nil
        order[known.place] = nil
        if order.count > 64, order.count > 2 * facts.count { closeGaps() }
    }

    /// Numbers the topics again, without those that were taken out.
    private mutating func closeGaps() {
        let topics = order.compactMap(\.self)
        for (place, topic) in topics.enumerated() {
            guard let fact = facts[topic] else { continue }
            facts[topic] = Fact(payload: fact.payload, qos: fact.qos, progress: fact.progress, place: place)
        }
        order = topics
    }

    /// The connection is gone, and with it what the broker was told.
    mutating func forgetProgress() {
        for topic in order.lazy.compactMap(\.self) { facts[topic]?.progress = .stale }
    }

    /// Puts everything in line, in order.
    mutating func putAllInLine() -> [String] {
        let topics = order.compactMap { $0?.text }
        for topic in topics { waits(topic) }
        return topics
    }
}
