/// The latest fact of each topic, in the order in which the topics first appeared.
struct FactMirror: Sendable {
    private enum Progress {
        /// The broker of this connection does not have it.
        case stale
        /// In line.
        case waiting
        /// Handed to the client on this connection.
        case published
        /// The broker closes its connections because of it: not published until it changes.
        case dropped
    }

    /// The parts of a publication that make a fact; it neither expires nor has a response. Every tag has ten, so it is
    /// small.
    private struct Fact {
        let payload: [UInt8]
        let qos: UInt8
        var progress: Progress
        /// Where its topic is in ``order``.
        var place: Int

        func equals(_ publication: Publication) -> Bool {
            qos == publication.qos && payload == publication.payload
        }
    }

    /// The topics; a cleared one leaves nil, so that clearing one costs the same however many there are.
    private var order: [ExactText?] = []
    private var facts: [ExactText: Fact] = [:]
    /// The topics whose facts were in flight when the broker closed a connection: one may be the reason. Almost always
    /// empty, and asked for with every publication.
    private var suspects: Set<ExactText> = []

    /// Keeps a fact.
    ///
    /// - Returns: whether it has to be sent or put in line: not if the broker has the same, and not if the topic is in
    ///   line already.
    mutating func keep(_ publication: Publication) -> Bool {
        let topic = ExactText(publication.topic)
        guard let known = facts[topic] else {
            facts[topic] = Fact(
                payload: publication.payload, qos: publication.qos, progress: .stale, place: order.count)
            order.append(topic)
            return true
        }
        let isSettled = known.progress == .published || known.progress == .dropped
        if isSettled, known.equals(publication) { return false }
        let isWaiting = known.progress == .waiting
        facts[topic] = Fact(
            payload: publication.payload, qos: publication.qos, progress: isWaiting ? .waiting : .stale,
            place: known.place)
        return !isWaiting
    }

    /// The broker may need the topic's fact again.
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

    /// The broker has cleared the fact of a topic: unless there is another one by now, nothing is kept of it.
    mutating func cleared(_ topic: String) {
        let key = ExactText(topic)
        guard let known = facts[key], known.progress == .published, known.payload.isEmpty else { return }
        facts[key] = nil
        order[known.place] = nil
        if order.count > 64, order.count > 2 * facts.count { closeGaps() }
    }

    /// Puts everything in line, in order: it is unknown what the broker has kept.
    mutating func putAllInLine() -> [String] {
        order.compactMap { topic in
            guard let topic, facts[topic]?.progress != .dropped else { return nil }
            facts[topic]?.progress = .waiting
            return topic.text
        }
    }

    /// Numbers the topics again, without those that were cleared.
    private mutating func closeGaps() {
        order.removeAll { $0 == nil }
        for case (let place, let topic?) in order.enumerated() { facts[topic]?.place = place }
    }
}

// MARK: Facts that make the broker close its connections

extension FactMirror {
    /// Whether the topic's fact may make the broker close the connection.
    func isSuspect(_ topic: String) -> Bool { !suspects.isEmpty && suspects.contains(ExactText(topic)) }

    /// The broker has closed a connection with the topic's fact in flight.
    mutating func suspect(_ topic: String) {
        suspects.insert(ExactText(topic))
    }

    /// The broker has acknowledged the topic's fact.
    mutating func clearSuspicion(_ topic: String) {
        if !suspects.isEmpty { suspects.remove(ExactText(topic)) }
    }

    /// The topic's fact has made the broker close two connections. Another fact of the topic is suspect from the start.
    mutating func drop(_ topic: String) {
        facts[ExactText(topic)]?.progress = .dropped
    }
}
