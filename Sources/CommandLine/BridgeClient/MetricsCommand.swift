import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import Terminal
import Text

/// `metrics`: prints the metrics of the bridge in the format of Prometheus.
struct MetricsCommand: ClientCommand {
    /// Each part has up to 64 KiB, and a bridge has up to 1,000 tags.
    private static let mostParts = 1_000

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let progress = Progress(context.printer)
        let text = try await context.withSession { session throws(ClientFailure) in
            var text = MetricsText()
            var tag: String?
            var tags: Set<String> = []
            repeat {
                let arguments: [String: JSONValue] = tag.map { ["after": .string($0)] } ?? [:]
                let request = ClientRequest(verb: "metrics", arguments, session.topics)
                let data = try await session.ask(request, progress)["data"]
                text.append(data?["text"]?.string ?? "")
                tag = data?["next"]?.string
                if let tag, !tags.insert(tag).inserted || tags.count > Self.mostParts {
                    throw ClientFailure(
                        exitCode: .failed, code: "invalid_response", text: "the response of the bridge has no end")
                }
            } while tag != nil
            return text.text(.prometheus)
        }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n")).map { DisplayText.escaped(String(Substring($0))) }
        context.printer.show(["text": .string(text)], lines)
    }

    static let row = Command<any CommandAction>(
        name: "metrics",
        summary: "print the metrics of the bridge for Prometheus",
        details: [
            "Requests the metrics and prints them as text: the same as in the metrics",
            "file and on the web page, for scripts and for \"promtool check metrics\".",
        ],
        options: [.config, .json],
        json: [#"{"text"}, the same text."#],
        examples: ["metrics"]
    ) { arguments throws(CommandLineError) in try ClientAction(MetricsCommand(), arguments) }
}
