import Bridge
import EventLoop
import JSON

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
        context.printer.show(data, Self.lines(of: data, at: Moment.now.unixMilliseconds))
    }

    /// The table for people: first the known tags, then the others that were heard.
    ///
    /// - Parameters:
    ///   - data: `{"known":[...],"seen":[...]}`.
    ///   - now: milliseconds since 1970.
    /// - Returns: the lines.
    static func lines(of data: JSONValue, at now: Int64) -> [String] {
        let strangers = (data["seen"]?.elements ?? []).filter { $0["known"]?.flag != true }
        var table = TextTable(titles: ["ID", "SERIAL", "NAME", "ADDRESS", "STATE", "RSSI", "LAST SEEN"])
        table.rows = (data["known"]?.elements ?? []).map { row($0, state($0), now) }
        table.rows += strangers.map { row($0, $0["connected"]?.flag == true ? "linked, not known" : "not known", now) }
        return table.rows.isEmpty ? ["There is no tag. To find those in reach: jacquard2mqtt scan"] : table.lines
    }

    private static func row(_ tag: JSONValue, _ state: String, _ now: Int64) -> [String] {
        let seen = tag["last_seen"]?.string.flatMap(Age.unixMilliseconds).map { Age.text(from: $0, to: now) }
        return ["id", "serial", "name", "address"].map { tag[$0]?.word ?? "" }
            + [state, tag["rssi"]?.word ?? "", seen ?? ""]
    }

    private static func state(_ tag: JSONValue) -> String {
        let state = ConnectionText(tag).short
        return tag["held"]?.flag == true ? "\(state), held" : state
    }
}
