import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import JacquardProtocol
import Terminal
import Text

/// `explain`: shows what became of the latest gestures and commands. Prints the result's `data` with `--json`.
struct ExplainCommand: ClientCommand {
    /// The tag's ID; nil: all tags.
    var tag: String?
    /// The `seq` of one gesture; nil: the latest gestures and commands.
    var sequence: Int?

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        var arguments: [String: JSONValue] = [:]
        if let tag { arguments["tag"] = .string(tag) }
        if let sequence { arguments["seq"] = .integer(Int64(sequence)) }
        let progress = Progress(context.printer)
        let result = try await context.withSession { session throws(ClientFailure) in
            try await session.ask(ClientRequest(verb: "trace", arguments, session.topics), progress)
        }
        let data = result["data"] ?? .null
        context.printer.show(data, lines(of: data).map(DisplayText.escaped))
        if let failure = failure(for: data) { throw failure }
    }

    /// The failure if the requested gesture is not known.
    func failure(for data: JSONValue) -> ClientFailure? {
        guard sequence != nil, data["gestures"]?.elements?.isEmpty != false else { return nil }
        var failure = ClientFailure(exitCode: .failed, code: "not_found", text: nothing)
        failure.isPrinted = true
        return failure
    }

    /// The sentences in the order of time, then the tags that are not connected.
    func lines(of data: JSONValue) -> [String] {
        let parts: [(String, (JSONValue) -> String)] = [
            ("gestures", ExplainText.gesture), ("commands", ExplainText.command),
            ("incidents", { ExplainText.incident($0, in: data) }),
        ]
        let timed = parts.flatMap { key, sentence in
            (data[key]?.elements ?? []).map { document in
                (time: document["time"]?.string ?? "", text: ExplainText.line(document, sentence(document)))
            }
        }
        let lines = timed.sorted { $0.time < $1.time }.map(\.text)
        let tags = (data["tags"]?.elements ?? []).compactMap(ExplainText.tag)
        // A requested gesture that is not known is an error.
        return (lines.isEmpty && sequence == nil ? [nothing] : lines) + tags
    }

    private var nothing: String {
        guard let sequence, let tag else {
            return "There was no gesture and no command since the bridge was started"
        }
        return "There is no gesture \(sequence) of \(tag) among the last 1,024 gestures since the bridge was started"
    }

    static let row = Command<any CommandAction>(
        name: "explain",
        summary: "show what became of the latest gestures and commands",
        details: [
            "Prints one sentence for each of the latest gestures and commands: how long",
            "each stage took, and what went wrong: the broker was stopped or slow, no",
            "client was subscribed, the access list refused the message, a fragment was",
            "lost, the tag was asleep.",
        ],
        options: [.config, .json],
        operands: [.optional("ID", .tag), .optional("SEQ")],
        values: [
            "ID is the tag's level in topics. Default: all tags.",
            "SEQ is the number of one gesture of the tag, the key seq of its message.",
        ],
        json: [#"The data of the result: {"gestures","commands","incidents","tags"}."#],
        examples: ["explain", "explain 003R", "explain 003R 1042"]
    ) { arguments throws(CommandLineError) in
        let sequences = 1...Int(UInt32.max)
        return try ClientAction(
            ExplainCommand(
                tag: try arguments.optionalOperand(0, "ID", .topicLevel),
                sequence: try arguments.optionalOperand(1, "SEQ", .integer(sequences))), arguments)
    }
}
