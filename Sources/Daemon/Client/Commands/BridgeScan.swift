import Bridge
import EventLoop
import JSON
import MQTT
import Time

/// Lets the running bridge scan, and collects what it publishes meanwhile.
struct BridgeScan: Sendable {
    let context: ClientContext
    /// How long to listen.
    let duration: Duration

    /// Listens; Ctrl-C ends it early, with what was heard.
    ///
    /// - Throws: the error of the bridge, or `noConnection`.
    @LoopActor
    func run() async throws(ClientFailure) -> ScanReport {
        try await context.visit { session throws(ClientFailure) in
            let progress = Progress(context.printer)
            let topics = session.topics
            var report = ScanReport(source: .bridge)
            let request = BridgeRequest(
                verb: "scan", ["duration_s": .integer(duration.components.seconds), "duplicates": true], topics,
                patience: duration + .seconds(15))
            session.subscribe(to: [topics.advertisement, topics.scan])
            let end = Instant.now + duration
            defer { progress.end() }
            do throws(ClientFailure) {
                let take: (MQTTMessage) -> Void = { message in
                    if message.topic == topics.advertisement { report.take(JSONValue(payload: message.payload)) }
                }
                _ = try await session.ask(request, progress, observe: take)
                progress.say("listening for \(duration.components.seconds) s")
                try await collect(session, until: end, into: &report)
            } catch  where error == .interrupted {
                session.publish(topics.request("scan"), "stop")
            }
            return report
        }
    }

    /// Until the time is over, or the bridge says that the scan has ended before.
    @LoopActor
    private func collect(
        _ session: BrokerSession, until end: Instant, into report: inout ScanReport
    ) async throws(ClientFailure) {
        while let signal = await session.next(until: end) {
            switch signal {
            case .message(let message) where message.topic == session.topics.advertisement:
                report.take(JSONValue(payload: message.payload))
            case .message(let message) where message.topic == session.topics.scan:
                if JSONValue(payload: message.payload)["scanning"]?.flag == false { return }
            case .message(let message) where message.topic == session.topics.state:
                if message.payload == Array("offline".utf8) { throw .bridgeOffline(session.topics.instance) }
            case .lost(let error): throw .lost(error.text)
            case .interrupted: throw .interrupted
            case .message, .connected, .taken, .refused: break
            }
        }
    }
}
