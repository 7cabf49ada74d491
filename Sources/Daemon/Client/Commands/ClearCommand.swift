import Bridge
import CommandLine
import Configuration
import EventLoop
import HomeAssistant
import JSON
import MQTT
import Time

/// `clear`: removes everything that the bridge of the configuration retains at the broker, Home Assistant's devices included.
///
/// For machines: `{"status":"ok","topics":[...]}`.
struct ClearCommand: Sendable {
    let context: ClientContext

    /// How long Home Assistant gets to remove entities before their topics go.
    private static let pause = Duration.seconds(1)

    /// Removes and prints how much.
    ///
    /// - Throws: `noConnection` without a broker; `bridge_online` while the bridge would publish everything again.
    @LoopActor
    func run() async throws(ClientFailure) {
        let topics = BridgeTopics(context.configuration)
        let cleared = try await context.visit { session throws(ClientFailure) in
            let facts = try await StatusCommand.facts(topics, session)
            guard facts.bridge("state")?.string != "online" else { throw .bridgeOnline(topics.instance) }
            let home = context.configuration.homeAssistant
            let tags = facts.tags.compactMap { TagID($0)?.text }
            let footprint = DiscoveryFootprint(prefix: home.prefix, instance: topics.instance, tags: tags)
            let discovery = try await session.snapshot(of: footprint.filters)
                .filter { $0.isRetained && footprint.contains($0.topic, $0.payload) }.map(\.topic)
            try await Self.clear(discovery, session)
            let others = facts.retainedTopics
            if !discovery.isEmpty, !others.isEmpty { try await Self.wait(Self.pause, session) }
            try await Self.clear(others, session)
            return discovery + others
        }
        context.printer.show(
            ["status": "ok", "topics": .array(cleared.map(JSONValue.string))],
            [
                cleared.isEmpty
                    ? "The broker retains nothing of the bridge \(topics.instance)"
                    : "\(cleared.count) retained topics of the bridge \(topics.instance) are removed"
            ])
    }

    /// Removes what is retained on each topic, and waits until the broker has confirmed all of it.
    @LoopActor
    private static func clear(_ topics: [String], _ session: BrokerSession) async throws(ClientFailure) {
        var open = Set(topics.map(session.clear))
        let deadline = Instant.now + BrokerSession.patience
        while !open.isEmpty {
            switch await session.next(until: deadline) {
            case .taken(let ticket): open.remove(ticket)
            case .refused(_, let error): throw .forbidden(topics[0], error.code.name)
            case .lost(let error): throw .lost(error.text)
            case .interrupted: throw .interrupted
            case .message, .connected: break
            case nil: throw .lost("no answer within \(BrokerSession.patience.components.seconds) s")
            }
        }
    }

    @LoopActor
    private static func wait(_ duration: Duration, _ session: BrokerSession) async throws(ClientFailure) {
        let end = Instant.now + duration
        while let signal = await session.next(until: end) {
            switch signal {
            case .lost(let error): throw .lost(error.text)
            case .interrupted: throw .interrupted
            case .message, .connected, .taken, .refused: break
            }
        }
    }
}

extension ClientFailure {
    /// The bridge would publish again what is removed.
    fileprivate static func bridgeOnline(_ instance: String) -> ClientFailure {
        ClientFailure(
            exitCode: .failed, code: "bridge_online",
            text: "The bridge \"\(instance)\" is online and would publish everything again",
            hint: "stop it first: sudo systemctl stop jacquard2mqtt")
    }
}
