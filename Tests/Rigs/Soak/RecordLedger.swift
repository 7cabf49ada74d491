/// The publications of the bridge about tags, and those of a replay of its recorded events.
///
/// The rules:
/// - A replayed event has the topic, below another base topic, and the bytes of a published one, and each topic has them
///   in the same order. An event that the bridge has recorded and that no reader has received is excused around trouble
///   with the broker: it has expired, or was lost with what an ended broker held.
/// - Each published event is replayed, unless the bridge was killed before it had written it to the file, has logged that
///   it could not write as fast, or the file has overwritten it since. No gesture is replayed twice. A result is, if the command was repeated with its id.
/// - The last value of each fact is the last published one.
struct RecordLedger {
    /// A publication without its base topic.
    private struct Message: Hashable {
        let topic: String
        let payload: [UInt8]
    }

    /// The longest time between an event and its reader, and until the bridge has written it to the file.
    private static let patience = Duration.seconds(20)

    /// When each event came first.
    private var published: [Message: ContinuousClock.Instant] = [:]
    private var publishedOrder: [Message] = []
    private var ordered: Set<Message> = []
    private var replayed: [(message: Message, made: ContinuousClock.Instant)] = []
    private var facts: [String: [UInt8]] = [:]
    private var replayedFacts: [String: [UInt8]] = [:]

    /// The number of replayed events.
    var count: Int { replayed.count }
    /// The number of replayed events that no reader had received.
    private(set) var unpublished = 0
    /// The number of published events that were not written before the bridge was killed, or not fast enough.
    private(set) var unwritten = 0

    /// The topics of a tag that are recorded and not retained.
    private static let events: Set<Substring> = [
        "gesture", "led/result", "haptic/result", "reflex/result", "touch_mode/result", "connection/result",
        "battery/result", "sleep/result",
    ]

    /// Whether a topic, without its base, is one of recorded events.
    static func isEvent(_ topic: String) -> Bool {
        topic.split(separator: "/", maxSplits: 2).last.map(events.contains) ?? false
    }

    /// A message of the bridge has come to the witness, in the order in which they were published. Repetitions have no
    /// effect.
    mutating func published(_ topic: String, _ payload: [UInt8], at now: ContinuousClock.Instant) {
        guard Self.isEvent(topic) else { return facts[topic] = payload }
        let message = Message(topic: topic, payload: payload)
        if ordered.insert(message).inserted { publishedOrder.append(message) }
        if published[message] == nil { published[message] = now }
    }

    /// A message of the bridge has come to the reader.
    mutating func received(_ topic: String, _ payload: [UInt8], at now: ContinuousClock.Instant) {
        guard Self.isEvent(topic) else { return }
        let message = Message(topic: topic, payload: payload)
        if published[message] == nil { published[message] = now }
    }

    /// A message of the replay was received, with the time in the document of an event as `made`.
    mutating func replayed(_ topic: String, _ payload: [UInt8], made: ContinuousClock.Instant?) {
        if let made {
            replayed.append((Message(topic: topic, payload: payload), made))
        } else if !payload.isEmpty {
            replayedFacts[topic] = payload
        }
    }

    /// Compares both.
    ///
    /// - Parameters:
    ///   - troubles: what has happened.
    ///   - unrecorded: how many events were not recorded, as the bridge has logged it.
    /// - Returns: the broken rules.
    mutating func compare(_ troubles: Troubles, unrecorded: Int) -> [String] {
        guard let first = replayed.first else { return ["the replay has no events"] }
        var violations: [String] = []
        for (message, made) in replayed where published[message] == nil {
            unpublished += 1
            let until = made + Self.patience
            if !troubles.touchBroker(made - Self.patience, until), !troubles.touch(.bridge, made, until) {
                violations.append("only the replay has \(Self.text(message))")
            }
        }
        let known = Set(replayed.map(\.message))
        let gestures = replayed.map(\.message).filter { $0.topic.hasSuffix("/gesture") }
        let repetitions = gestures.count - Set(gestures).count
        if repetitions > 0 { violations.append("the replay has \(repetitions) gestures twice") }
        var owed: [String] = []
        for (message, at) in published where at > first.made + Self.patience && !known.contains(message) {
            unwritten += 1
            if !troubles.touch(.bridge, at, at + Self.patience) {
                owed.append("the replay does not have \(Self.text(message)); \(unrecorded) events were not recorded")
            }
        }
        if owed.count > unrecorded { violations += owed }
        let order = Dictionary(grouping: publishedOrder.filter(known.contains), by: \.topic)
        var seen: Set<Message> = []
        let firsts = replayed.map(\.message).filter { ordered.contains($0) && seen.insert($0).inserted }
        let replayedOrder = Dictionary(grouping: firsts, by: \.topic)
        for (topic, messages) in replayedOrder where messages != order[topic] {
            violations.append("the replay has another order of \(topic)")
        }
        for (topic, payload) in replayedFacts where facts[topic] != payload {
            violations.append(
                "the replay ends with another value of \(topic): \(String(decoding: payload, as: UTF8.self))")
        }
        return violations
    }

    private static func text(_ message: Message) -> String {
        "\(message.topic) \(String(decoding: message.payload, as: UTF8.self))"
    }
}
