import JacquardProtocol
import MQTTTypes

/// The latest fact of each topic, in the order in which the topics first appeared.
struct FactMirror: Sendable {
    private enum Progress {
        /// The broker of this connection does not have the fact.
        case stale
        /// Queued.
        case waiting
        /// Passed to the client on this connection.
        case published
        /// The broker closes the connection when it receives the fact: not published until it changes, or until a retry.
        case dropped
    }

    /// The parts of a publication that make a fact. A fact has no expiry and no response. Kept small because every tag
    /// has ten.
    private struct Fact {
        let payload: [UInt8]
        let qos: MQTTQoS
        var progress: Progress
        /// The index of its topic in ``order``.
        var place: Int

        func equals(_ publication: Publication) -> Bool {
            qos == publication.message.qos && payload.isEqual(to: publication.payload)
        }
    }

    /// The topics; a cleared topic leaves nil, so that clearing takes constant time.
    private var order: [ExactText?] = []
    private var facts: [ExactText: Fact] = [:]
    /// The topics whose facts were in flight when the broker closed a connection: one may be the cause. Almost always
    /// empty; read for every publication.
    private var suspects: Set<ExactText> = []
    /// How many connections have ended while the topic's fact was alone in flight, or among others. Almost always empty.
    private var endings: [ExactText: Int] = [:]
    /// The suspects that are sent after all other facts.
    private var postponed: Set<ExactText> = []
    /// How often facts were repeated because their acknowledgements were late. Almost always empty.
    private var repetitions: [ExactText: Int] = [:]
    /// The messages that have to reach the broker before the fact of their topic. Almost always empty.
    private var steps: [ExactText: [[UInt8]]] = [:]
    /// The most of them for a topic; then the oldest is dropped.
    private static let mostSteps = 8
    /// The topics whose facts are stored, but not published: another bridge publishes them.
    private var withheld: Set<ExactText> = []

    /// Stores a fact.
    ///
    /// - Returns: whether to send or queue it: not if the broker has the same fact, if the topic is already queued, or if
    ///   it is withheld.
    mutating func keep(_ publication: Publication) -> Bool {
        let topic = ExactText(publication.topic)
        // Nothing to publish, and nothing of this bridge to clear.
        if publication.isClearing, endWithholding(topic) {
            remove(topic)
            return false
        }
        guard let known = facts[topic] else {
            facts[topic] = Fact(
                payload: publication.payload, qos: publication.message.qos, progress: .stale, place: order.count)
            order.append(topic)
            return !isWithheld(topic)
        }
        let isSettled = known.progress == .published || known.progress == .dropped
        if isSettled, known.equals(publication) { return false }
        let isWaiting = known.progress == .waiting
        facts[topic] = Fact(
            payload: publication.payload, qos: publication.message.qos, progress: isWaiting ? .waiting : .stale,
            place: known.place)
        return !isWaiting && !isWithheld(topic)
    }

    /// Whether nothing of this topic is published.
    func isWithheld(_ topic: String) -> Bool { isWithheld(ExactText(topic)) }

    /// Keeps a message that is published before the fact of its topic.
    mutating func keep(step payload: [UInt8], of topic: String) {
        let topic = ExactText(topic)
        guard !isWithheld(topic) else { return }
        if steps[topic, default: []].count == Self.mostSteps { steps[topic]?.removeFirst() }
        steps[topic, default: []].append(payload)
    }

    /// Keeps a message again that was in flight when the connection ended.
    mutating func restore(step payload: [UInt8], of topic: String) {
        steps[ExactText(topic), default: []].insert(payload, at: 0)
    }

    /// Returns and removes the next message that is published before the fact of a topic, which is queued behind it; nil if there is none.
    mutating func takeStep(of topic: String) -> Publication? {
        guard !steps.isEmpty else { return nil }
        let key = ExactText(topic)
        guard var waiting = steps[key] else { return nil }
        let payload = waiting.removeFirst()
        steps[key] = waiting.isEmpty ? nil : waiting
        facts[key]?.progress = .waiting
        return isWithheld(key) ? nil : Publication(topic: topic, payload: payload, kind: .step)
    }

    private func isWithheld(_ topic: ExactText) -> Bool { !withheld.isEmpty && withheld.contains(topic) }

    /// Publishes no facts of these topics until ``release(_:)``, not even queued ones.
    mutating func withhold(_ topics: [String]) {
        for topic in topics { withheld.insert(ExactText(topic)) }
    }

    /// Ends ``withhold(_:)``, and marks the facts of these topics as queued, except those for which the broker closes the
    /// connection.
    ///
    /// - Returns: the topics to queue.
    mutating func release(_ topics: [String]) -> [String] {
        topics.filter { topic in
            let topic = ExactText(topic)
            _ = endWithholding(topic)
            guard let known = facts[topic], known.progress != .waiting, known.progress != .dropped else { return false }
            facts[topic]?.progress = .waiting
            return true
        }
    }

    /// Ends the withholding of a topic, and returns whether it was withheld.
    private mutating func endWithholding(_ topic: ExactText) -> Bool {
        guard withheld.remove(topic) != nil else { return false }
        // An empty set would keep its memory.
        if withheld.isEmpty { withheld = [] }
        return true
    }

    /// Marks the topic's fact to be sent again.
    mutating func repeats(_ topic: String) {
        let topic = ExactText(topic)
        if facts[topic]?.progress == .published { facts[topic]?.progress = .stale }
    }

    /// Marks the topic's fact as queued.
    mutating func waits(_ topic: String) {
        facts[ExactText(topic)]?.progress = .waiting
    }

    /// Returns the topic's fact and marks it as published; nil if the topic is withheld.
    mutating func publish(_ topic: String) -> Publication? {
        let key = ExactText(topic)
        guard !isWithheld(key) else {
            facts[key]?.progress = .stale
            return nil
        }
        facts[key]?.progress = .published
        return facts[key].map { Publication(topic: topic, payload: $0.payload, qos: $0.qos, kind: .fact) }
    }

    /// The broker has acknowledged the clearing of a topic: removes the topic, unless it has a new fact.
    mutating func cleared(_ topic: String) {
        let key = ExactText(topic)
        guard facts[key]?.progress == .published, facts[key]?.payload.isEmpty == true else { return }
        remove(key)
    }

    /// The queued messages that clear topics.
    var queuedClearings: [Publication] {
        order.compactMap { topic in
            guard let topic, let fact = facts[topic], fact.progress == .waiting, fact.payload.isEmpty,
                !isWithheld(topic)
            else { return nil }
            return .noFact(topic.text)
        }
    }

    private mutating func remove(_ topic: ExactText) {
        guard let known = facts.removeValue(forKey: topic) else { return }
        if !steps.isEmpty { steps[topic] = nil }
        if !endings.isEmpty { endings[topic] = nil }
        order[known.place] = nil
        if order.count > 64, order.count > 2 * facts.count { removeGaps() }
    }

    /// Marks all facts as queued and returns their topics in order: it is unknown what the broker has stored.
    mutating func queueAll() -> [String] {
        repetitions = [:]
        let topics = order.compactMap { topic -> String? in
            guard let topic, facts[topic]?.progress != .dropped else { return nil }
            guard !isWithheld(topic) else {
                facts[topic]?.progress = .stale
                return nil
            }
            facts[topic]?.progress = .waiting
            return topic.text
        }
        guard !postponed.isEmpty else { return topics }
        let isLate = { [postponed] (topic: String) in postponed.contains(ExactText(topic)) }
        return topics.filter { !isLate($0) } + topics.filter(isLate)
    }

    /// Renumbers the topics without the cleared ones.
    private mutating func removeGaps() {
        order.removeAll { $0 == nil }
        for case (let place, let topic?) in order.enumerated() { facts[topic]?.place = place }
    }
}

// MARK: Facts for which the broker closes the connection

extension FactMirror {
    /// Whether the topic's fact may make the broker close the connection.
    func isSuspect(_ topic: String) -> Bool { !suspects.isEmpty && suspects.contains(ExactText(topic)) }

    /// Marks the topic's fact, which was in flight when the broker closed the connection.
    mutating func suspect(_ topic: String) {
        suspects.insert(ExactText(topic))
    }

    /// Clears the mark, because the broker has acknowledged the fact.
    ///
    /// - Returns: whether this was the last suspect.
    mutating func clearSuspicion(_ topic: String) -> Bool {
        guard !suspects.isEmpty else { return false }
        suspects.remove(ExactText(topic))
        endings[ExactText(topic)] = nil
        postponed.remove(ExactText(topic))
        return suspects.isEmpty
    }

    /// Whether there are facts of other topics.
    func hasOthers(than topic: String) -> Bool {
        facts.count > (facts[ExactText(topic)] == nil ? 0 : 1)
    }

    /// Sends the suspect after the other facts on the next connection.
    mutating func postpone(_ topic: String) {
        // All of them have had their turn.
        if postponed.count + 1 >= facts.count { postponed = [] }
        postponed.insert(ExactText(topic))
    }

    /// Drops the topic's fact after the broker closed two connections because of it. The topic's next fact is suspect
    /// from the start.
    ///
    /// - Returns: whether it is sent again after a pause.
    mutating func drop(_ topic: String) -> Bool {
        let topic = ExactText(topic)
        if !steps.isEmpty { steps[topic] = nil }
        postponed.remove(topic)
        facts[topic]?.progress = .dropped
        // Two connections before the first time.
        endings[topic, default: 1] += 1
        return !isAbandoned(topic)
    }

    /// The number of connections that a fact may end. It is not sent again before it changes, and then only once.
    static let maxEndings = 5

    private func isAbandoned(_ topic: ExactText) -> Bool { endings[topic, default: 0] >= Self.maxEndings }

    /// The facts that are not sent again, with their sizes.
    var abandoned: [(topic: String, bytes: Int)] {
        guard !endings.isEmpty else { return [] }
        return endings.keys.filter { isAbandoned($0) && facts[$0]?.progress == .dropped }.sorted()
            .map { ($0.text, bytes(of: $0.text) ?? 0) }
    }

    /// The size of a topic's fact; nil if there is none.
    func bytes(of topic: String) -> Int? { facts[ExactText(topic)]?.payload.count }
}

// MARK: Facts that the broker may not have stored

extension FactMirror {
    /// The treatment of a late acknowledgement.
    enum LateAcknowledgement {
        /// Queue the topic.
        case repetition
        /// The fact was repeated several times: repeat it later.
        case pause
        /// The topic has another fact meanwhile, or is queued.
        case nothing
    }

    /// The largest number of repetitions without a pause.
    static let maxRepetitions = 3

    /// Handles a late acknowledgement of the topic's fact.
    mutating func acknowledgedLate(_ topic: String) -> LateAcknowledgement {
        let topic = ExactText(topic)
        guard facts[topic]?.progress == .published else { return .nothing }
        let count = repetitions[topic, default: 0] + 1
        repetitions[topic] = count
        guard count <= Self.maxRepetitions else { return .pause }
        facts[topic]?.progress = .waiting
        return .repetition
    }

    /// Handles an acknowledgement of the topic's fact that was not late.
    mutating func acknowledgedInTime(_ topic: String) {
        guard !repetitions.isEmpty else { return }
        repetitions[ExactText(topic)] = nil
    }

    /// Marks the dropped facts, which are suspects, and those that were acknowledged late too often as queued, and returns
    /// their topics in order.
    mutating func queueDoubtful() -> [String] {
        order.compactMap { topic in
            guard let topic, let progress = facts[topic]?.progress else { return nil }
            let isLate = progress == .published && repetitions[topic, default: 0] > Self.maxRepetitions
            guard isLate || (progress == .dropped && !isAbandoned(topic)) else { return nil }
            facts[topic]?.progress = .waiting
            repetitions[topic] = nil
            return topic.text
        }
    }
}
