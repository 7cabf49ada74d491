import EventLoop

/// `tags`: all tags that the bridge knows or has heard.
///
/// For machines: the `data` of the result, as the bridge gives it.
struct TagsCommand: Sendable {
    let context: ClientContext

    /// Asks and prints.
    @LoopActor
    func run() async throws(ClientFailure) {
        let progress = Progress(context.printer)
        let result = try await context.visit { session throws(ClientFailure) in
            try await session.ask(BridgeRequest(verb: "tags", [:], session.topics), progress)
        }
        let data = result["data"] ?? .null
        context.printer.show(data, Self.lines(of: data))
    }

    /// The table for people.
    static func lines(of data: JSONValue) -> [String] {
        let tags = data["tags"]?.elements ?? data.elements ?? []
        guard !tags.isEmpty else { return ["There is no tag. To find those in reach: jacquard2mqtt scan"] }
        let keys = ["id", "serial", "name", "address", "state", "rssi", "known", "last_seen"]
        var table = TextTable(titles: ["ID", "SERIAL", "NAME", "ADDRESS", "STATE", "RSSI", "KNOWN", "LAST SEEN"])
        table.rows = tags.map { tag in keys.map { tag[$0]?.word ?? "" } }
        return table.lines
    }
}
