import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import GATTRecording
import JSON
import Terminal
import Text
import Time

/// `record-traffic`: writes the Bluetooth traffic of a tag to a file.
struct RecordCommand: ClientCommand {
    /// The tag's ID.
    let id: String
    /// The path of the new file.
    let file: String
    /// How long to record.
    var duration = Duration.seconds(60)
    /// Whether the tag is disconnected and connected again at the start.
    var reconnects = false

    /// How long the bridge may take to end the recording.
    private static let patience = Duration.seconds(5)

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let output = try OwnerFile(creating: file)
        let collected: (TrafficCollector, RetainedFacts)
        do throws(ClientFailure) {
            collected = try await context.withSession { session throws(ClientFailure) in
                try await collect(session, context)
            }
        } catch {
            output.discard()
            throw error
        }
        let recording = collected.0.scrubbed(collected.1.identifyingTexts(of: id))
        try output.finish(recording.text)
        context.printer.show(document(recording, collected.0.end), lines(recording, collected.0.end))
    }

    @LoopActor
    private func collect(
        _ session: BrokerSession, _ context: ClientContext
    ) async throws(ClientFailure) -> (TrafficCollector, RetainedFacts) {
        let topics = session.topics
        let progress = Progress(context.printer)
        defer { progress.end() }
        var facts = RetainedFacts(topics)
        facts.take(try await session.snapshot(of: topics.facts(of: id)))
        var collector = TrafficCollector(id, topics)
        session.subscribe(to: [topics.gatt])
        let request = ClientRequest.recording(id, for: duration, topics)
        _ = try await session.ask(request, progress, observe: { collector.take($0) })
        let end = Instant.now + duration
        context.printer.write(
            .standardError,
            DisplayText.escaped(
                "recording the Bluetooth traffic of \(id) for \(duration.components.seconds) s; Ctrl-C ends it"))
        do throws(ClientFailure) {
            if reconnects { try await reconnect(session, context, progress, &collector) }
            try await listen(session, until: end + Self.patience, &collector)
        } catch  where error == .interrupted {
            session.publish(topics.request("gatt"), "stop")
            try await listen(session, until: .now + Self.patience, &collector)
        }
        return (collector, facts)
    }

    /// Disconnects and connects the tag. A failure is part of what is recorded.
    @LoopActor
    private func reconnect(
        _ session: BrokerSession, _ context: ClientContext, _ progress: Progress, _ collector: inout TrafficCollector
    ) async throws(ClientFailure) {
        for word in ["disconnect", "connect"] {
            let request = ClientRequest.connection(word, of: id, session.topics)
            do throws(ClientFailure) {
                _ = try await session.ask(request, progress, observe: { collector.take($0) })
            } catch {
                guard error.exitCode == .failed, error != .interrupted else { throw error }
                context.printer.write(.standardError, DisplayText.escaped("\(word): \(error.text)"))
            }
        }
    }

    /// Collects until the bridge ends the recording, or until a time.
    @LoopActor
    private func listen(
        _ session: BrokerSession, until end: Instant, _ collector: inout TrafficCollector
    ) async throws(ClientFailure) {
        while collector.end == nil, let signal = await session.next(until: end) {
            switch signal {
            case .message(let message): collector.take(message)
            case .interrupted: throw .interrupted
            case .connected: session.subscribe(to: [session.topics.gatt])
            case .lost, .taken, .refused: break
            }
        }
    }
}

extension RecordCommand {
    private func document(_ recording: TrafficRecording, _ end: String?) -> JSONValue {
        [
            "file": .string(file), "records": .integer(Int64(recording.records.count)),
            "lost": .integer(Int64(recording.lost)), "end": JSONValue(end),
            "summary": TrafficSummary(recording).document,
        ]
    }

    private func lines(_ recording: TrafficRecording, _ end: String?) -> [String] {
        let summary = TrafficSummary(recording)
        var lines = [
            "\(file): \(counted(recording.records.count, "record")), "
                + "\(counted(summary.exchanges.count, "request")) to the tag"
        ]
        if recording.lost > 0 {
            lines.append("\(countedWere(recording.lost, "record")) lost on the way from the bridge")
        }
        if end == nil { lines.append("the bridge has not reported the end; the recording may be incomplete") }
        return lines.map(DisplayText.escaped)
    }

    static let row = Command<any CommandAction>(
        name: "record-traffic",
        summary: "record the Bluetooth traffic of a tag",
        details: [
            "Writes what the bridge and the tag send to each other to a new file that",
            "only you can read. Serial numbers, names and addresses are replaced by X.",
            "Ctrl-C ends the recording early. A simulated tag plays it back:",
            "jacquard-simulator --replay-traffic FILE.",
        ],
        options: [.config, .json, durationOption, reconnectOption],
        operands: [.required("ID", .tag), .required("FILE", .file([]))],
        values: RowText.id,
        json: [#"{"file","records","lost","end","summary"}"#],
        examples: ["record-traffic 003R tag.jsonl", "record-traffic 003R tag.jsonl --reconnect --duration 20"],
        formerNames: ["record"]
    ) { arguments throws(CommandLineError) in
        let id = try arguments.operand(0, "ID", .topicLevel)
        let duration = try arguments.value(of: durationOption, .wholeSeconds(1...3600))
        let file = try arguments.operand(1, "FILE", .text(bytes: 4_095))
        let command = RecordCommand(
            id: id, file: file, duration: duration ?? .seconds(60),
            reconnects: arguments.options[reconnectOption.name] != nil)
        return try ClientAction(command, arguments)
    }

    private static let durationOption = OptionDescription(
        name: "--duration", value: "SECONDS", details: ["The duration of the recording, at most 3600 (default: 60)."])
    private static let reconnectOption = OptionDescription(
        name: "--reconnect", value: nil,
        details: [
            "Disconnect the tag and connect it again first, so that the recording has",
            "the start of a connection, which a replay needs.",
        ])
}
