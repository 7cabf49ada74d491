import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import MQTT
import Terminal

/// `status`: shows the bridge and its tags as the broker retains them; also works while the bridge is offline.
struct StatusCommand: ClientCommand {
    /// Prints the state.
    ///
    /// - Throws: `noConnection` without a broker, and after printing if the bridge is not online.
    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let topics = context.topics
        let progress = Progress(context.printer)
        let facts = try await context.withSession { session throws(ClientFailure) in
            defer { progress.end() }
            progress.say("reading what the broker retains")
            return try await RetainedFacts.read(topics, session)
        }
        let report = StatusReport(facts, at: WallClock.unixMilliseconds)
        guard let state = facts.bridge("state")?.string else {
            throw .bridgeUnknown(topics.instance, others: facts.otherBridges)
        }
        context.printer.show(report.document, report.lines)
        guard state == "online" else {
            var failure = ClientFailure.bridgeOffline(topics.instance)
            failure.isPrinted = true
            throw failure
        }
    }

    static let row = Command<any CommandAction>(
        name: "status",
        summary: "show the state of the bridge and of its tags",
        details: [
            "Prints what the bridge has published: its state, problems and adapters, and",
            "a table of its tags. If the bridge is offline, prints what it published last",
            "and ends with 3.",
        ],
        options: [.config, .json],
        json: [
            #"{"bridge":{"instance","state","info","health","adapters"},"tags":[{"id","#,
            #""availability","connection","battery","gear","info","touch_mode","led","#,
            #""rssi","stats"}]}; each part as the bridge publishes it, or null."#,
        ]
    ) { arguments throws(CommandLineError) in ClientAction(StatusCommand(), arguments) }
}

/// The retained messages of a bridge and of tags.
struct RetainedFacts: Hashable, Sendable {
    /// The topics of the bridge.
    let topics: BridgeTopics
    private var ofBridge: [String: JSONValue] = [:]
    private var ofTags: [String: [String: JSONValue]] = [:]
    private var ofOthers: [String: String] = [:]

    /// Creates an empty collection.
    init(_ topics: BridgeTopics) {
        self.topics = topics
    }

    /// Reads the retained messages from the broker.
    ///
    /// Some brokers send no retained messages for a wildcard (RabbitMQ before 3.13). Therefore the topics of the bridge, and
    /// then those of its tags, are also subscribed one by one.
    @LoopActor
    static func read(_ topics: BridgeTopics, _ session: BrokerSession) async throws(ClientFailure) -> RetainedFacts {
        var facts = RetainedFacts(topics)
        facts.take(
            try await session.snapshot(
                of: topics.factsOfBridge
                    + [topics.everythingOfBridge, topics.everything(of: nil), topics.stateOfEveryBridge]))
        let missing = facts.tags.filter { facts.tag($0, "availability") == nil }
        if !missing.isEmpty { facts.take(try await session.snapshot(of: missing.flatMap(topics.facts))) }
        return facts
    }

    /// Adds the retained ones of these messages.
    mutating func take(_ messages: [MQTTMessage]) {
        for message in messages where message.isRetained { take(message.topic, message.payload) }
    }

    /// Adds a retained message. Of other bridges only the state is kept.
    mutating func take(_ topic: String, _ payload: [UInt8]) {
        if let instance = topics.instance(ofStateTopic: topic), instance != topics.instance, !payload.isEmpty {
            ofOthers[instance] = String(decoding: payload, as: UTF8.self)
        }
        guard !payload.isEmpty, let (owner, rest) = topics.split(topic) else { return }
        switch owner {
        case .bridge: ofBridge[rest] = JSONValue(payload: payload)
        case .tag(let id): ofTags[id, default: [:]][rest] = JSONValue(payload: payload)
        }
    }

    /// A fact of the bridge, such as `health`.
    func bridge(_ name: String) -> JSONValue? { ofBridge[name] }

    /// A fact of a tag, such as `battery`.
    func tag(_ id: String, _ name: String) -> JSONValue? { ofTags[id]?[name] }

    /// The other bridges with the same base topic, each with its state: `cellar (online)`.
    var otherBridges: [String] { ofOthers.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" } }

    /// All retained topics of the bridge and of its tags.
    var retainedTopics: [String] {
        let own = tags.filter { tag($0, "info").map { $0["bridge"]?.string == topics.instance } ?? true }
        return own.flatMap { id in (ofTags[id] ?? [:]).keys.sorted().map { topics.tag(id, $0) } }
            + ofBridge.keys.sorted().map { "\(topics.bridge)/\($0)" }
    }

    /// The IDs of the bridge's tags, sorted: those in the bridge's list, and those whose `info` names the bridge.
    var tags: [String] {
        let listed = ofBridge["info"]?["tags"]?.elements?.compactMap(\.string) ?? []
        let own = ofTags.filter { $0.value["info"]?["bridge"]?.string == topics.instance }.map(\.key)
        return Set(listed + own).sorted()
    }
}
