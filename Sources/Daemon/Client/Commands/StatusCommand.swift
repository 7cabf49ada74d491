import Bridge
import Configuration
import EventLoop
import JSON
import MQTT

/// `status`: how the bridge and its tags are, by what the broker retains; works for a bridge that is away, too.
struct StatusCommand: Sendable {
    let context: ClientContext

    /// Looks and prints.
    ///
    /// - Throws: `noConnection` without a broker, and after printing when the bridge is not online.
    @LoopActor
    func run() async throws(ClientFailure) {
        let topics = BridgeTopics(context.configuration)
        let progress = Progress(context.printer)
        let facts = try await context.visit { session throws(ClientFailure) in
            defer { progress.end() }
            progress.say("reading what the broker retains")
            return try await Self.facts(topics, session)
        }
        let report = StatusReport(facts, at: Moment.now.unixMilliseconds)
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

    /// What the broker retains. Some give nothing for a wildcard (RabbitMQ before 3.13): to those the topics of the bridge,
    /// and then of the tags that it lists, are named one by one.
    @LoopActor
    static func facts(
        _ topics: BridgeTopics, _ session: BrokerSession
    ) async throws(ClientFailure) -> RetainedFacts {
        var facts = RetainedFacts(topics)
        facts.take(
            try await session.snapshot(
                of: topics.factsOfBridge
                    + [topics.everythingOfBridge, topics.everything(of: nil), topics.stateOfEveryBridge]))
        let missing = facts.tags.filter { facts.tag($0, "availability") == nil }
        if !missing.isEmpty { facts.take(try await session.snapshot(of: missing.flatMap(topics.facts))) }
        return facts
    }
}
