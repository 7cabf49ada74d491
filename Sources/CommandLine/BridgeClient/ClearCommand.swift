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
        let cleared = try await context.withSession { session throws(ClientFailure) -> [String] in
            let progress = Progress(context.printer)
            defer { progress.end() }
            var facts = try await RetainedFacts.read(topics, session, progress)
            let configured = context.configuration.tags.map(\.id.text)
            try await facts.readByName(configured, session)
            // Its last message is not believed: the bridge may have ended while the broker was away.
            if facts.isOnline { facts.presence = try await session.presence() }
            guard !facts.isOnline else { throw ClearCommand.bridgeOnline(topics.instance, facts.presence) }
            let own = facts.ownTags(with: configured)
            let tags = own.compactMap { TagID($0)?.text }
            let footprint = DiscoveryFootprint(
                prefix: context.configuration.homeAssistant.prefix, instance: topics.instance, tags: tags)
            let discovery = try await Self.announcements(footprint, session)
            try await Self.clear(discovery, session)
            let others = facts.retainedTopics(of: own)
            if !discovery.isEmpty, !others.isEmpty { try await Self.wait(Self.pause, session) }
            try await Self.clear(others, session)
            try await Self.check(discovery + others, session)
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

    /// The topics of the announcements that are there, by filters and by name.
    @LoopActor
    private static func announcements(
        _ footprint: DiscoveryFootprint, _ session: BrokerSession
    ) async throws(ClientFailure) -> [String] {
        var found = try await session.snapshot(of: footprint.filters)
        for batch in footprint.names(.complete).batches {
            found += try await session.snapshot(of: batch)
            session.unsubscribe(from: batch)
        }
        let topics = session.topics
        return Set(
            found.filter { $0.isRetained && footprint.contains($0.topic, $0.payload) }
                // A bridge of the same name below another base topic has the same discovery topics.
                .filter { DiscoveryFootprint.topics(in: $0.payload).allSatisfy { topics.split($0) != nil } }
                .map(\.topic)
        ).sorted()
    }

    /// Reads each topic again by its name.
    ///
    /// - Throws: `not_removed` if the broker still has the message of one.
    @LoopActor
    private static func check(_ topics: [String], _ session: BrokerSession) async throws(ClientFailure) {
        var left: Set<String> = []
        for batch in topics.batches {
            // A second subscription to the same name is one only after the end of the first.
            session.unsubscribe(from: batch)
            let found = try await session.snapshot(of: batch)
            left.formUnion(found.filter { $0.isRetained && !$0.payload.isEmpty }.map(\.topic))
        }
        guard !left.isDisjoint(with: topics) else { return }
        throw ClientFailure(
            exitCode: .failed, code: "not_removed",
            text: countedAre(left.count, of: topics.count, "retained topic")
                + " still there: \(left.sorted().joined(separator: ", "))",
            hint: "stop the program that publishes them, then jacquard2mqtt clear")
    }

    /// Clears each topic, and waits until the broker has confirmed all of them.
    @LoopActor
    private static func clear(_ topics: [String], _ session: BrokerSession) async throws(ClientFailure) {
        var open = Dictionary(topics.map { (session.clear($0), $0) }) { $1 }
        let deadline = Instant.now + BrokerSession.patience
        while !open.isEmpty {
            switch await session.next(until: deadline) {
            case .taken(let ticket): open[ticket] = nil
            case .refused(let ticket, let error):
                throw .forbidden(open[ticket] ?? topics[0], error.code.name, AccessTable(session.topics))
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
            "again. Does nothing while the bridge answers. Bonds are kept.",
        ],
        options: [.config, .json],
        json: [#"{"status","topics"}: the topics that were removed."#],
        examples: ["clear"]
    ) { arguments throws(CommandLineError) in try ClientAction(ClearCommand(), arguments) }
}

extension ClearCommand {
    /// The bridge runs and would publish again what was removed.
    private static func bridgeOnline(_ instance: String, _ presence: BridgePresence?) -> ClientFailure {
        let isKnown = presence == .answers
        return ClientFailure(
            exitCode: .failed, code: "bridge_online",
            text: "The bridge \"\(instance)\" is online\(isKnown ? "" : " by its last message")"
                + " and would publish everything again",
            hint: "stop it first: sudo systemctl stop jacquard2mqtt"
                + (isKnown ? "" : "; the broker does not let this user ask it"))
    }
}
