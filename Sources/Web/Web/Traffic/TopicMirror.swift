import Bridge
import BrokerAccess
import JSON

/// A message as browsers receive it.
struct MirroredMessage: Hashable, Sendable {
    let topic: String
    let payload: [UInt8]
    /// Whether the broker keeps the topic's last message.
    let isRetained: Bool
    /// When the message was received, in milliseconds since 1970; nil for a fact, and for a message that the broker had stored.
    var received: Int64?
    /// Of the state of a bridge: when the bridge was last away.
    var absence: BridgeAbsence?
    /// Of the state of a bridge: whether it is online by its last message and does not answer.
    var isSilent = false

    /// `{"payload":"...","retained":true,"topic":"..."}` on one line, with `received_ms` and `away` if they are known, and `silent`,
    /// which has the words of such a bridge.
    var json: [UInt8] {
        var document: [String: JSONValue] = [
            "topic": .string(topic), "payload": .string(String(decoding: payload, as: UTF8.self)),
            "retained": .bool(isRetained),
        ]
        document["received_ms"] = received.map(JSONValue.integer)
        if let absence {
            document["away"] = [
                "from_ms": absence.from.map(JSONValue.integer) ?? .null,
                "to_ms": absence.to.map(JSONValue.integer) ?? .null,
            ]
        }
        if isSilent {
            document["silent"] = [
                "state": .string(SilentBridge.state), "remedies": .array(SilentBridge.remedies.map(JSONValue.string)),
            ]
        }
        return JSONText.bytes(of: JSONValue.object(document))
    }

    /// Whether the message removes a tag: it deletes the tag's `info`.
    var endsTag: Bool { isRetained && payload.isEmpty && topic.hasSuffix("/info") && topic.contains("/tag/") }
}

/// A time in which a bridge was away, in milliseconds since 1970. nil: not known, or not over.
struct BridgeAbsence: Hashable, Sendable {
    var from: Int64?
    var to: Int64?
}

/// The last message of each retained topic below the base topic, and the newest events.
struct TopicMirror {
    /// The most events for browsers that reconnect.
    static let ringSize = 1_000
    /// The most bytes of these events.
    static let ringBytes = 1 << 20
    /// The most bytes of facts: of each one its topic, its payload and ``overhead``.
    static let mirrorBytes = 16 << 20
    /// What a fact occupies beside its bytes: two allocations, its place in the table and in the list of topics. It bounds the
    /// number of facts at 65,536.
    static let overhead = 256
    /// The longest event of a gesture that is stored beside the newest events.
    static let gestureBytes = 1024
    /// The longest payload. Longer messages are ignored.
    static let payloadLimit = 64 << 10

    private struct Fact {
        var payload: [UInt8]
        /// The connection to the broker in which the message was received.
        var connection: Int
    }

    let base: String
    let boot: String
    private var facts: [String: Fact] = [:]
    /// The topics of the facts in order, so that a stream needs no copy of them.
    private var topics: [String] = []
    private var events = EventRing(size: ringSize, bytes: ringBytes)
    /// The newest gesture by topic, so that many other events don't replace it.
    private var gestures: [String: MirrorEvent] = [:]
    /// When bridges were last away, by the topics of their states.
    private var absences: [String: BridgeAbsence] = [:]
    /// The topics of the states of bridges that are online by their last message and do not answer.
    private var silent: Set<String> = []
    private(set) var factBytes = 0
    private var connection = 0
    /// Whether the broker has sent all stored messages on the current connection.
    private(set) var isCurrent = false
    /// Whether the broker has sent all stored messages once. Until then nothing is known about topics that are missing.
    private(set) var isComplete = false
    /// The number of facts that were not stored because of ``mirrorBytes``.
    private(set) var omitted = 0

    /// Creates an empty mirror.
    init(base: String, boot: String) {
        self.base = base
        self.boot = boot
    }

    /// The number of the newest event; 0 before the first one.
    var lastNumber: UInt64 { events.last }

    /// The number of topics.
    var count: Int { facts.count }

    /// The subscriptions: everything that a page shows, except the touch streams.
    var filters: [String] {
        let rows =
            TagTopicTable.rows.filter(\.isOnPage).map { "tag/+/\($0.name)" }
            + BridgeTopic.table.filter(\.isOnPage).map { "bridge/+/\($0.name)" }
        return (rows + ["tag/+/+/result", "bridge/+/response/+"]).map { "\(base)/\($0)" }
    }

    /// The states of all bridges by name.
    var bridges: [String: String] {
        let names = BridgeTopics(base: base, instance: ""), prefix = "\(base)/bridge/"
        return topics[position(of: prefix)...].prefix { $0.hasPrefix(prefix) }.reduce(into: [:]) { bridges, topic in
            guard let name = names.instance(ofStateTopic: topic), let fact = facts[topic] else { return }
            bridges[name] = String(decoding: fact.payload, as: UTF8.self)
        }
    }

    /// Whether a topic has this message.
    func holds(_ payload: [UInt8], at topic: String) -> Bool { facts[topic]?.payload == payload }

    /// Whether a bridge is online by its last message.
    func isOnline(_ bridge: String) -> Bool { facts[state(of: bridge)].map { Self.isOnline($0.payload) } ?? false }

    /// Whether a bridge is online by its last message and does not answer.
    func isSilent(_ bridge: String) -> Bool { silent.contains(state(of: bridge)) }

    /// Notes whether a bridge that is online by its last message answers.
    ///
    /// - Returns: the event for browsers; nil if nothing has changed, or the bridge is not online by its last message.
    mutating func setSilent(_ isSilent: Bool, _ bridge: String) -> MirrorEvent? {
        let topic = state(of: bridge)
        guard silent.contains(topic) != isSilent, isOnline(bridge), let fact = facts[topic] else { return nil }
        if isSilent { silent.insert(topic) } else { silent.remove(topic) }
        return append(message(topic, fact))
    }

    private func state(of bridge: String) -> String { "\(base)/bridge/\(bridge)/state" }

    private static func isOnline(_ state: [UInt8]) -> Bool { state == Array("online".utf8) }

    /// Whether the broker keeps messages of a topic. With MQTT 3.1.1 the flag of a received message is no
    /// evidence.
    static func isFact(_ rest: Substring) -> Bool {
        let levels = rest.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard levels.count == 3 else { return false }
        return (levels[0] == "tag" ? factsOfTags : factsOfBridges).contains(levels[2])
    }

    private static let factsOfTags = facts(TagTopicTable.rows), factsOfBridges = facts(BridgeTopic.table)

    private static func facts(_ rows: [TopicRow]) -> Set<Substring> { Set(rows.filter(\.isFact).map { $0.name[...] }) }

    /// Handles a new connection to the broker, which sends all retained messages again.
    mutating func connected() {
        connection += 1
        isCurrent = false
    }

    /// Handles the end of the stored messages on the current connection.
    ///
    /// - Returns: whether it is the first time.
    mutating func storedReceived() -> Bool {
        defer { (isCurrent, isComplete) = (true, true) }
        return !isComplete
    }

    /// Handles a received message.
    ///
    /// - Parameters:
    ///   - topic: its topic.
    ///   - payload: its payload.
    ///   - time: when it was received, in milliseconds since 1970; nil if that is not known.
    ///   - isStored: whether the broker may have stored it, so that it may be older.
    /// - Returns: the event for browsers; nil for a message of another program, or a fact that has not changed.
    mutating func received(
        topic: String, payload: [UInt8], at time: Int64? = nil, isStored: Bool = false
    ) -> MirrorEvent? {
        guard let rest = TopicPattern.rest(of: topic, below: base), TopicPattern.isOfTagOrBridge(rest),
            payload.count <= Self.payloadLimit
        else { return nil }
        let isFact = Self.isFact(rest)
        if isFact {
            let old = facts[topic]
            guard store(topic, payload) else { return nil }
            if old?.payload == payload || (old == nil && payload.isEmpty) { return nil }
            // A live message can have the flag of a stored one, too. Stored ones come first.
            if Self.isState(rest) { stateChanged(topic, payload, isFirst: old == nil, at: isCurrent ? time : nil) }
        } else if payload.isEmpty {
            return nil
        }
        let message = MirroredMessage(
            topic: topic, payload: payload, isRetained: isFact, received: isFact || isStored ? nil : time,
            absence: absences[topic])
        let event = append(message)
        if !isFact, rest.hasPrefix("tag/"), rest.hasSuffix("/gesture") { keep(event) }
        return event
    }

    private static func isState(_ rest: Substring) -> Bool { rest.hasPrefix("bridge/") && rest.hasSuffix("/state") }

    /// Handles another state of a bridge, at a time that may not be known.
    private mutating func stateChanged(_ topic: String, _ payload: [UInt8], isFirst: Bool, at time: Int64?) {
        silent.remove(topic)
        if payload.isEmpty {
            absences[topic] = nil
        } else if !Self.isOnline(payload) {
            absences[topic] = BridgeAbsence(from: time)
        } else if !isFirst {
            absences[topic]?.to = time
        }
    }

    /// Stores the newest gesture of a tag, of as many tags as have charts.
    private mutating func keep(_ gesture: MirrorEvent) {
        guard gesture.text.count <= Self.gestureBytes,
            gestures[gesture.topic] != nil || gestures.count < History.mostTags
        else { return }
        gestures[gesture.topic] = gesture
    }

    /// Stores a fact.
    ///
    /// - Returns: false if there is no space.
    private mutating func store(_ topic: String, _ payload: [UInt8]) -> Bool {
        let old = facts[topic]
        let oldSize = old.map { Self.size(topic, $0.payload) } ?? 0
        guard !payload.isEmpty else {
            guard old != nil else { return true }
            facts[topic] = nil
            topics.remove(at: position(of: topic))
            factBytes -= oldSize
            return true
        }
        let size = Self.size(topic, payload)
        guard factBytes - oldSize + size <= Self.mirrorBytes else {
            omitted += 1
            return false
        }
        factBytes += size - oldSize
        if old == nil { topics.insert(topic, at: position(of: topic)) }
        facts[topic] = Fact(payload: payload, connection: connection)
        return true
    }

    private static func size(_ topic: String, _ payload: [UInt8]) -> Int {
        topic.utf8.count + payload.count + overhead
    }

    /// The number of topics before a topic, which need not be in the list.
    private func position(of topic: String) -> Int {
        var (low, high) = (0, topics.count)
        while low < high {
            let middle = (low + high) / 2
            if topics[middle] < topic { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func append(_ message: MirroredMessage) -> MirrorEvent {
        if message.endsTag { gestures["\(message.topic.dropLast("info".count))gesture"] = nil }
        let event = MirrorEvent(message, EventID(boot: boot, number: lastNumber + 1))
        events.append(event)
        return event
    }

    /// Removes the facts that the broker has not sent on the current connection: they were deleted while it was away.
    ///
    /// - Returns: the events that delete them.
    mutating func removeStale() -> [MirrorEvent] {
        let stale = topics.filter { facts[$0]?.connection != connection }
        guard !stale.isEmpty else { return [] }
        topics.removeAll { facts[$0]?.connection != connection }
        return stale.map { topic in
            if let fact = facts.removeValue(forKey: topic) { factBytes -= Self.size(topic, fact.payload) }
            absences[topic] = nil
            silent.remove(topic)
            return append(MirroredMessage(topic: topic, payload: [], isRetained: true))
        }
    }

    /// The next facts in the order of their topics.
    ///
    /// - Parameters:
    ///   - last: the topic of the last fact before them; nil for the first ones.
    ///   - isWanted: selects topics.
    /// - Returns: at most ``StreamBeginning/factsPerPart``, of which all but the last have at most ``StreamBeginning/bytesPerPart``
    ///   of payload together; empty after the last fact.
    func facts(after last: String?, where isWanted: (String) -> Bool = { _ in true }) -> [MirroredMessage] {
        var part: [MirroredMessage] = []
        var bytes = 0
        let next = last.map { last in
            let position = position(of: last)
            // The fact may have been removed.
            return position < topics.count && topics[position] == last ? position + 1 : position
        }
        for topic in topics[(next ?? 0)...] where isWanted(topic) {
            guard let fact = facts[topic] else { continue }
            part.append(message(topic, fact))
            bytes += fact.payload.count
            if part.count == StreamBeginning.factsPerPart || bytes > StreamBeginning.bytesPerPart { break }
        }
        return part
    }

    private func message(_ topic: String, _ fact: Fact) -> MirroredMessage {
        MirroredMessage(
            topic: topic, payload: fact.payload, isRetained: true, absence: absences[topic],
            isSilent: silent.contains(topic))
    }

    /// The stored events without facts, oldest first: the history of a page that has just been opened. It begins with the newest
    /// gestures of tags without one among the newest events, and contains the ends of tags: the gestures before them do not belong to a
    /// tag that was added again.
    var recent: [MirrorEvent] {
        let all = events.all
        let first = all.first?.number ?? .max
        return gestures.values.filter { $0.number < first }.sorted { $0.number < $1.number }
            + all.filter { !$0.isRetained || $0.endsTag }
    }

    /// The events after a browser's last one; nil if they are not all stored, so that it needs the mirror.
    func events(after id: EventID?) -> [MirrorEvent]? {
        guard let id, id.boot == boot else { return nil }
        return events.events(after: id.number)
    }
}

/// The text of server-sent events. Source: the HTML standard, section 9.2.
enum StreamText {
    /// The end of each event.
    static let end = "\n\n"

    /// A message, whose JSON contains no line break.
    static func event(_ json: [UInt8], id: EventID) -> [UInt8] {
        Array("id: \(id.text)\ndata: ".utf8) + json + Array(end.utf8)
    }

    /// A named event.
    static func event(named name: String, _ json: [UInt8], id: EventID? = nil) -> [UInt8] {
        let id = id.map { "id: \($0.text)\n" } ?? ""
        return Array("\(id)event: \(name)\ndata: ".utf8) + json + Array(end.utf8)
    }

    /// Asks browsers to reconnect after this many milliseconds.
    static let retry = Array("retry: 1000\n\n".utf8)
}
