import Bridge
import BrokerAccess
import CommandLine
import Configuration
import EventLoop
import HomeAssistant
import JSON
import JacquardProtocol
import MQTT
import MQTTTypes
import Terminal
import Text
import Time

/// `clear`: removes the retained messages of the configured bridge from the broker, and its devices from Home Assistant.
struct ClearCommand: ClientCommand {
    /// How long Home Assistant has to remove entities before their topics are cleared.
    private static let pause = Duration.seconds(1)

    /// Removes the messages and prints how many.
    ///
    /// - Throws: `noConnection` without a broker; `bridge_online` if the bridge runs, as it would publish everything again.
    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let topics = context.topics
        let cleared = try await context.withSession { session throws(ClientFailure) in
            let facts = try await RetainedFacts.read(topics, session)
            guard facts.bridge("state")?.string != "online" else { throw ClearCommand.bridgeOnline(topics.instance) }
            let home = context.configuration.homeAssistant
            let tags = facts.tags.compactMap { TagID($0)?.text }
            let footprint = DiscoveryFootprint(prefix: home.prefix, instance: topics.instance, tags: tags)
            let discovery = try await session.snapshot(of: footprint.filters)
                .filter { $0.isRetained && footprint.contains($0.topic, $0.payload) }
                // A bridge of the same name below another base topic has the same discovery topics.
                .filter { DiscoveryFootprint.topics(in: $0.payload).allSatisfy { topics.split($0) != nil } }
                .map(\.topic)
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
                    ? "The broker sends this user no retained message of the bridge \(topics.instance)"
                    : "\(counted(cleared.count, "retained topic")) of the bridge \(topics.instance) "
                        + (cleared.count == 1 ? "is removed" : "are removed")
            ])
    }

    /// Clears each topic, and waits until the broker has confirmed all of them.
    @LoopActor
    private static func clear(_ topics: [String], _ session: BrokerSession) async throws(ClientFailure) {
        var open = Set(topics.map(session.clear))
        let deadline = Instant.now + BrokerSession.patience
        while !open.isEmpty {
            switch await session.next(until: deadline) {
            case .taken(let ticket): open.remove(ticket)
            case .refused(_, let error): throw .forbidden(topics[0], error.code.name, AccessTable(session.topics))
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

    static let row = Command<any CommandAction>(
        name: "clear",
        summary: "remove the retained messages of a stopped bridge",
        details: [
            "Removes the retained topics of the configured bridge and of its tags, and",
            "their devices in Home Assistant. For a bridge that will not be started",
            "again. Does nothing while the bridge is online. Bonds are kept.",
        ],
        options: [.config, .json],
        json: [#"{"status","topics"}: the topics that were removed."#],
        examples: ["clear"]
    ) { arguments throws(CommandLineError) in try ClientAction(ClearCommand(), arguments) }
}

extension ClearCommand {
    /// The bridge runs and would publish again what was removed.
    private static func bridgeOnline(_ instance: String) -> ClientFailure {
        ClientFailure(
            exitCode: .failed, code: "bridge_online",
            text: "The bridge \"\(instance)\" is online and would publish everything again",
            hint: "stop it first: sudo systemctl stop jacquard2mqtt")
    }
}
