import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import MQTT
import MQTTTypes
import Terminal
import Text

/// `monitor`: shows messages as they are published, until Ctrl-C. Reconnects after a lost connection.
struct MonitorCommand: ClientCommand {
    /// The ID of the one tag to show; nil: all tags and the bridge.
    let tag: String?
    /// Whether messages that were retained before are left out.
    var isNewOnly = false

    /// Prints events until Ctrl-C, or until standard output is closed.
    ///
    /// - Throws: `noConnection` if the first connection fails.
    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        try await context.withSession { session throws(ClientFailure) in
            do throws(ClientFailure) {
                for message in try await initialMessages(session, context) {
                    guard show(message, isInitial: true, context) else { return }
                }
            } catch  where error == .interrupted {
                return
            }
            await follow(session, context)
        }
    }

    /// Subscribes, and returns the retained messages.
    ///
    /// - Throws: `unknown_tag` if there are bridges and none of them has the tag.
    @LoopActor
    private func initialMessages(
        _ session: BrokerSession, _ context: ClientContext
    ) async throws(ClientFailure) -> [MQTTMessage] {
        if let tag {
            let topics = session.topics
            let filters = [topics.infoOfEveryBridge, topics.stateOfEveryBridge]
            let known = FleetDirectory(try await session.snapshot(of: filters), topics).tagsOfAllBridges
            session.unsubscribe(from: filters)
            guard known.isEmpty || known.contains(tag) else {
                throw .unknownTag(tag, known: known, try await TagOverview.read(session, Progress(context.printer)))
            }
        }
        return try await session.snapshot(of: filters(context))
    }

    private func filters(_ context: ClientContext) -> [String] {
        let topics = context.topics
        return [topics.everything(of: tag)] + (tag == nil ? [topics.everythingOfBridge] : [topics.state])
    }

    @LoopActor
    private func follow(_ session: BrokerSession, _ context: ClientContext) async {
        while let signal = await session.next(until: nil) {
            switch signal {
            case .message(let message): guard show(message, isInitial: false, context) else { return }
            case .lost(let error):
                context.printer.write(.standardError, "no connection to the broker: \(error.text); retrying")
            case .connected: session.subscribe(to: filters(context))
            case .taken, .refused: break
            case .interrupted: return
            }
        }
    }

    /// - Returns: whether standard output is still open.
    private func show(_ message: MQTTMessage, isInitial: Bool, _ context: ClientContext) -> Bool {
        if isNewOnly, message.isRetained { return true }
        let printer = context.printer
        let record = MonitorRecord(
            topic: message.topic, payload: message.payload, isRetained: message.isRetained, isInitial: isInitial,
            time: WallClock.unixMilliseconds)
        if printer.isJSON { return printer.write(record.document) }
        guard let line = MonitorLine(record, context.topics) else { return true }
        return printer.write(.standardOutput, line.text, isEmphasized: line.isGesture)
    }

    static let row = Command<any CommandAction>(
        name: "monitor",
        summary: "show messages as they are published",
        details: [
            "Prints one line for each message: the time, the tag and a sentence. A *",
            "marks a gesture, a = marks messages that were published before. Ends with 0",
            "at Ctrl-C.",
        ],
        options: [.config, .json, .color, newOption],
        operands: [.optional("ID", .tag)],
        values: ["ID is the tag's level in topics. Default: all tags and the bridge."],
        json: [#"One object per line: {"time","topic","payload","retained","initial"}."#],
        examples: ["monitor", "monitor 003R", "monitor --json | jq -r .topic"]
    ) { arguments throws(CommandLineError) in
        let tag = try arguments.optionalOperand(0, "ID", .topicLevel)
        return try ClientAction(
            MonitorCommand(tag: tag, isNewOnly: arguments.options[newOption.name] != nil), arguments)
    }

    private static let newOption = OptionDescription(
        name: "--new", value: nil, details: ["Show only messages that are published from now on."])
}

/// A message that `monitor` has received.
struct MonitorRecord: Hashable, Sendable {
    /// The topic.
    let topic: String
    /// The payload.
    let payload: [UInt8]
    /// Whether the message has the retain flag.
    let isRetained: Bool
    /// Whether the message was published before `monitor` subscribed.
    let isInitial: Bool
    /// When it was received, in milliseconds since 1970.
    let time: Int64

    /// `{"time","topic","payload","retained","initial"}`; a payload that is not JSON is a string.
    var document: JSONValue {
        [
            "time": .string(TimeText.utc(time)), "topic": .string(topic), "payload": JSONValue(payload: payload),
            "retained": .bool(isRetained), "initial": .bool(isInitial),
        ]
    }
}

/// A line of `monitor`: the time, the tag or bridge, and a sentence.
struct MonitorLine: Hashable, Sendable {
    /// The line. It starts with `*` for a gesture, with `=` for an initial message.
    let text: String
    /// Whether it is printed in bold.
    let isGesture: Bool

    /// Describes a message.
    ///
    /// - Returns: nil for a message that repeats another topic or belongs to another program.
    init?(_ record: MonitorRecord, _ topics: BridgeTopics) {
        guard let (owner, kind) = topics.split(record.topic) else { return nil }
        guard let sentence = MessageText.sentence(kind, JSONValue(payload: record.payload), owner) else { return nil }
        isGesture = kind == "gesture"
        let mark = isGesture ? "*" : record.isInitial ? "=" : " "
        let columns = [Self.padded(Self.name(owner), 12), sentence]
        let line = ([mark, ClockText.local(record.time)] + columns).joined(separator: " ")
        text = DisplayText.escaped(line)
    }

    private static func name(_ owner: TopicOwner) -> String {
        switch owner {
        case .bridge: "bridge"
        case .tag(let id): id
        }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
