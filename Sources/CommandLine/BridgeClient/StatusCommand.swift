import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import MQTTTypes
import Terminal
import Text

/// `status`: shows the bridge and its tags as the broker retains them; also works while the bridge is offline.
struct StatusCommand: ClientCommand {
    /// Whether to show all bridges with the same base topic.
    var isAll = false

    /// Prints the state.
    ///
    /// - Throws: `noConnection` without a broker, and after printing if a bridge is not online.
    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        guard !isAll else { return try await runAll(context) }
        let topics = context.topics
        let progress = Progress(context.printer)
        let (facts, overview) = try await context.withSession {
            session throws(ClientFailure) -> (RetainedFacts, TagOverview?) in
            defer { progress.end() }
            var facts = try await RetainedFacts.read(topics, session, progress)
            guard facts.isOnline else { return (facts, nil) }
            // Only the bridge knows which other tags it receives. Its answer shows that it is there.
            if let overview = try await TagOverview.read(session, progress) { return (facts.answered(), overview) }
            facts.presence = try await session.presence()
            return (facts, nil)
        }
        let report = StatusReport(facts, overview, at: WallClock.unixMilliseconds)
        guard let state = facts.bridge("state")?.string else {
            throw .bridgeUnknown(topics.instance, others: facts.otherBridges)
        }
        context.printer.show(report.document, styled: report.lines(in: context.printer.style))
        guard facts.isOnline else {
            var failure = ClientFailure.bridgeOffline(topics.instance)
            if state == "online" { failure = .silent(topics.instance, topics, within: SilentBridge.patience) }
            failure.isPrinted = true
            throw failure
        }
    }

    @LoopActor
    private func runAll(_ context: ClientContext) async throws(ClientFailure) {
        let progress = Progress(context.printer)
        let bridges = try await context.withSession { session throws(ClientFailure) -> [RetainedFacts] in
            defer { progress.end() }
            let bridges = try await RetainedFacts.readAll(context.topics, session, progress)
            let asked = try await session.presences(of: bridges.filter(\.isOnline).map(\.topics))
            return bridges.map { facts in
                var facts = facts
                facts.presence = asked[facts.topics.instance]
                return facts
            }
        }
        guard !bridges.isEmpty else { throw .bridgeUnknown(context.topics.instance) }
        let now = WallClock.unixMilliseconds
        let reports = bridges.map { StatusReport($0, at: now) }
        context.printer.show(
            ["bridges": .array(reports.map(\.document))],
            styled: Array(reports.map { $0.lines(in: context.printer.style) }.joined(separator: [StyledLine()])))
        let offline = bridges.filter { !$0.isOnline }
        let silent = offline.filter { $0.presence == .silent }.map(\.topics.instance)
        if !offline.isEmpty { throw StatusCommand.offline(offline.map(\.topics.instance), silent, of: bridges.count) }
    }

    private static let allOption = OptionDescription(
        name: "--all", value: nil, details: ["Show all bridges with the base topic of the configuration."])

    static let row = Command<any CommandAction>(
        name: "status",
        summary: "show the state of the bridge and of its tags",
        details: [
            "Prints what the bridge has published: its state, problems and adapters, and",
            "a table of its tags, then the other tags that it receives. If the bridge is",
            "offline or does not answer, prints what it published last and ends with 3.",
            "With --all, prints a table for each bridge of the broker, names those that",
            "are offline, and ends with 3 if there are any.",
        ],
        options: [.config, .json, .color, allOption],
        json: [
            #"{"bridge":{"instance","state","answers","info","health","adapters"},"#,
            #""tags":[{"id","#,
            #""availability","connection","battery","forecast","gear","info","#,
            #""touch_mode","led","rssi","stats"}],"#,
            #""received":[{"serial","name","address","rssi","known","connected","#,
            #""last_seen"}]}; each part as the bridge publishes it, or null."#,
            #"With --all: {"bridges":[...]}."#,
        ],
        examples: ["status", "status --all"]
    ) { arguments throws(CommandLineError) in
        try ClientAction(StatusCommand(isAll: arguments.options[allOption.name] != nil), arguments)
    }
}

extension StatusCommand {
    /// Some bridges of `status --all` are offline; printed.
    private static func offline(_ instances: [String], _ silent: [String], of count: Int) -> ClientFailure {
        let names = instances.map { silent.contains($0) ? "\($0) (\(SilentBridge.state))" : $0 }
        var failure = ClientFailure(
            exitCode: .noConnection, code: "bridge_offline",
            text: countedAre(instances.count, of: count, "bridge") + " offline: \(names.joined(separator: ", "))")
        failure.isPrinted = true
        return failure
    }
}

/// The retained messages of a bridge and of tags.
struct RetainedFacts: Equatable, Sendable {
    /// The topics of the bridge.
    let topics: BridgeTopics
    private var ofBridge: [String: JSONValue] = [:]
    private var ofTags: [String: [String: JSONValue]] = [:]
    private var ofOthers: [String: String] = [:]
    /// Whether the bridge answers; nil: it was not asked.
    var presence: BridgePresence?

    /// Creates an empty collection.
    init(_ topics: BridgeTopics) {
        self.topics = topics
    }

    /// Reads the retained messages from the broker, and shows that as a step.
    @LoopActor
    static func read(
        _ topics: BridgeTopics, _ session: BrokerSession, _ progress: Progress
    ) async throws(ClientFailure) -> RetainedFacts {
        progress.say(reading)
        return try await read(topics, session)
    }

    private static let reading = "reading what the broker retains"

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

    /// Shows its progress, and reads the retained messages of all bridges with the same base topic.
    ///
    /// - Returns: the bridges that have a state, sorted by name.
    @LoopActor
    static func readAll(
        _ topics: BridgeTopics, _ session: BrokerSession, _ progress: Progress
    ) async throws(ClientFailure) -> [RetainedFacts] {
        progress.say(reading)
        let messages = try await session.snapshot(
            of: topics.factsOfBridge + topics.factsOfEveryBridge + [topics.everything(of: nil)])
        let instances = messages.filter { $0.isRetained && !$0.payload.isEmpty }
            .compactMap { topics.instance(ofStateTopic: $0.topic) }
        return Set(instances).sorted().map { instance in
            var facts = RetainedFacts(BridgeTopics(base: topics.base, instance: instance))
            facts.take(messages)
            return facts
        }
    }

    /// Reads every topic that the bridge and these tags can have by its name, for brokers that do not send all retained messages
    /// for a wildcard.
    @LoopActor
    mutating func readByName(_ others: [String], _ session: BrokerSession) async throws(ClientFailure) {
        let names = topics.factsOfBridge + Set(tags + others).sorted().flatMap(topics.facts)
        for batch in names.batches { take(try await session.snapshot(of: batch)) }
    }

    /// The same facts of a bridge that has answered.
    func answered() -> RetainedFacts {
        var facts = self
        facts.presence = .answers
        return facts
    }

    /// Whether the bridge is online, as far as it is known: its last message says so, and it answers if it was asked.
    var isOnline: Bool { bridge("state")?.string == "online" && presence != .silent }

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

    /// The bridge's tags and others that may be its own, without those whose `info` names another bridge.
    func ownTags(with others: [String]) -> [String] {
        Set(tags + others).sorted().filter { tag($0, "info").map { $0["bridge"]?.string == topics.instance } ?? true }
    }

    /// All retained topics of the bridge and of tags.
    func retainedTopics(of own: [String]) -> [String] {
        own.flatMap { id in (ofTags[id] ?? [:]).keys.sorted().map { topics.tag(id, $0) } }
            + ofBridge.keys.sorted().map { "\(topics.bridge)/\($0)" }
    }

    /// The IDs of the bridge's tags, sorted: those in the bridge's list, and those whose `info` names the bridge.
    var tags: [String] {
        let listed = ofBridge["info"]?["tags"]?.elements?.compactMap(\.string) ?? []
        let own = ofTags.filter { $0.value["info"]?["bridge"]?.string == topics.instance }.map(\.key)
        return Set(listed + own).sorted()
    }
}

extension [String] {
    /// Parts that fit into one packet of any broker, with the answers to them into its queue.
    var batches: [[String]] {
        stride(from: 0, to: count, by: 100).map { Array(self[$0..<Swift.min($0 + 100, count)]) }
    }
}
