import Bridge
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
        let messages = try await context.visit { session throws(ClientFailure) in
            try await session.snapshot(of: [topics.everythingOfBridge, topics.everything(of: nil)])
        }
        var facts = RetainedFacts(topics)
        for message in messages where message.isRetained { facts.take(message.topic, message.payload) }
        let report = StatusReport(facts, at: Moment.now.unixMilliseconds)
        guard let state = facts.bridge("state")?.string else { throw .bridgeUnknown(topics.instance) }
        context.printer.show(report.document, report.lines)
        guard state == "online" else {
            var failure = ClientFailure.bridgeOffline(topics.instance)
            failure.isPrinted = true
            throw failure
        }
    }
}
