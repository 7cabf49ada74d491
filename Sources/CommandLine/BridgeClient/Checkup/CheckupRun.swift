import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import GATTRecording
import JSON
import MQTT
import MQTTTypes
import Terminal
import Text
import Time

/// Runs a checkup: passes messages, lines and time to it, and performs its actions.
@LoopActor
final class CheckupRun {
    private let id: String
    private let isInteractive: Bool
    private let readsLog: Bool
    private let session: BrokerSession
    private let context: ClientContext
    private var collector: TrafficCollector
    private var isRecording = false
    private var logLines: [String] = []
    private var checkup: Checkup
    /// Whether the bridge has gone offline, which ends the checkup.
    private(set) var isBridgeOffline = false
    /// The retained topics at the broker.
    private(set) var facts: RetainedFacts

    /// The longest recording that a bridge makes.
    private static let recordingTime = Duration.seconds(3_600)
    /// How long the bridge may take to end the recording.
    private static let patience = Duration.seconds(3)
    /// The number of log records in a report; later ones are left out.
    private static let maxLogLines = 5_000

    init(
        _ id: String, isInteractive: Bool, readsLog: Bool, _ session: BrokerSession, _ context: ClientContext
    ) {
        self.id = id
        self.readsLog = readsLog
        self.isInteractive = isInteractive
        self.session = session
        self.context = context
        collector = TrafficCollector(id, session.topics)
        facts = RetainedFacts(session.topics)
        checkup = Checkup(CheckupFacts(), isInteractive: isInteractive, idPrefix: "")
    }

    /// The findings of the steps, then those of the traffic.
    var findings: [CheckupFinding] {
        checkup.findings + (isRecording ? TrafficFindings.findings(collector.recording) : [])
    }

    /// The recording without what identifies the tag; nil if there is none.
    var scrubbedRecording: TrafficRecording? {
        isRecording ? collector.scrubbed(facts.identifyingTexts(of: id)) : nil
    }

    /// The bridge's log during the checkup; nil if it was not published.
    var log: String? { logLines.isEmpty ? nil : logLines.joined(separator: "\n") }

    /// Performs the checkup.
    ///
    /// - Throws: `failed` if the bridge has no such tag, or `noConnection`.
    func perform() async throws(ClientFailure) {
        let topics = session.topics
        try await session.expectAnsweringBridge()
        // All retained messages arrive here; those that follow are new.
        facts.take(try await session.snapshot(of: topics.factsOfBridge + topics.facts(of: id) + subscriptions))
        guard facts.tag(id, "info") != nil else {
            let known = facts.bridge("info")?["tags"]?.elements?.compactMap(\.string) ?? []
            throw .unknownTag(id, known: known, try await TagOverview.read(session, Progress(context.printer)))
        }
        try await beginRecording()
        try await followLog()
        let retained = topics.facts(of: id).compactMap { topic -> (String, JSONValue)? in
            guard let name = topics.split(topic)?.rest else { return nil }
            return facts.tag(id, name).map { (name, $0) }
        }
        let prefix = "checkup-" + String(UInt64.random(in: .min ... .max), radix: 36)
        checkup = Checkup(
            CheckupFacts(Dictionary(retained) { $1 }), isInteractive: isInteractive, idPrefix: prefix)
        await drive()
        await endRecording()
    }

    private var subscriptions: [String] {
        [session.topics.everything(of: id), session.topics.gatt, session.topics.state]
            + (readsLog ? [session.topics.log] : [])
    }

    /// Without the right to record, the checkup has no findings about the traffic.
    private func beginRecording() async throws(ClientFailure) {
        let request = ClientRequest.recording(id, for: Self.recordingTime, session.topics)
        do throws(ClientFailure) {
            _ = try await session.ask(request, Progress(context.printer), observe: { collector.take($0) })
            isRecording = true
        } catch {
            guard error.exitCode == .failed, error != .interrupted else { throw error }
            context.printer.write(
                .standardError, DisplayText.escaped("the Bluetooth traffic is not recorded: \(error.text)"))
        }
    }

    /// Lets the bridge publish its log. An older bridge has no such request.
    private func followLog() async throws(ClientFailure) {
        guard readsLog else { return }
        let seconds = Self.recordingTime.components.seconds
        let payload: [String: JSONValue] = ["level": "debug", "duration_s": .integer(seconds)]
        let request = ClientRequest(verb: "log", payload, session.topics)
        do throws(ClientFailure) {
            _ = try await session.ask(request, Progress(context.printer), observe: { take($0) })
        } catch {
            guard error.exitCode == .failed, error != .interrupted else { throw error }
        }
    }

    private func endRecording() async {
        if readsLog { session.publish(session.topics.request("log"), #"{"duration_s":0}"#) }
        guard isRecording, !isBridgeOffline else { return }
        session.publish(session.topics.request("gatt"), "stop")
        let end = Instant.now + Self.patience
        while collector.end == nil, let signal = await session.next(until: end) {
            if case .message(let message) = signal { take(message) }
        }
    }

    private func drive() async {
        let keyboard = isInteractive ? KeyboardLines { [session] in session.interrupt() } : nil
        defer { keyboard?.end() }
        var isDone = perform(checkup.handle(.begin, at: .now))
        while !isDone {
            let event: Checkup.Event?
            switch await session.next(until: checkup.deadline) {
            case nil: event = .deadlineReached
            case .interrupted: event = keyboard?.take().map(Checkup.Event.line) ?? .interrupted
            case .message(let message): event = take(message)
            case .connected:
                session.subscribe(to: subscriptions)
                event = nil
            case .lost(let error):
                context.printer.write(.standardError, "no connection to the broker: \(error.text); retrying")
                event = nil
            case .taken, .refused: event = nil
            }
            if let event { isDone = perform(checkup.handle(event, at: .now)) }
        }
    }

    /// - Returns: whether the checkup is complete.
    private func perform(_ actions: [Checkup.Action]) -> Bool {
        for action in actions {
            switch action {
            case .send(let command, let payload):
                session.publish(session.topics.tag(id, command), JSONValue.object(payload).text)
            case .say(let text): context.printer.write(.standardError, DisplayText.escaped(text))
            case .done: return true
            }
        }
        return false
    }

    /// Stores a message.
    ///
    /// - Returns: the event for the checkup; nil if the message does not concern it.
    @discardableResult
    private func take(_ message: MQTTMessage) -> Checkup.Event? {
        collector.take(message)
        if message.topic == session.topics.log { takeLog(JSONValue(payload: message.payload)) }
        if message.topic == session.topics.state {
            guard session.isOffline(message) else { return nil }
            isBridgeOffline = true
            return .bridgeOffline
        }
        guard let (owner, rest) = session.topics.split(message.topic), owner == .tag(id) else { return nil }
        facts.take(message.topic, message.payload)
        return .message(rest, JSONValue(payload: message.payload))
    }

    private func takeLog(_ record: JSONValue) {
        guard logLines.count < Self.maxLogLines, case .object(let members) = record else { return }
        var words = ["time", "level", "label", "message"].compactMap { members[$0]?.word }
        if case .object(let fields)? = members["fields"] {
            words += fields.sorted { $0.key < $1.key }.map { key, value in
                let word = value.word.flatMap { $0.utf8.contains(UInt8(ascii: " ")) ? nil : $0 }
                return "\(key)=\(word ?? value.text)"
            }
        }
        logLines.append(words.joined(separator: " "))
    }
}
