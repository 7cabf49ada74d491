import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import Terminal

/// `tags`: lists the tags of the bridge and those that it receives. Prints the result's `data` with `--json`.
struct TagsCommand: ClientCommand {
    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let progress = Progress(context.printer)
        let result = try await context.withSession { session throws(ClientFailure) in
            try await session.ask(ClientRequest(verb: "tags", [:], session.topics), progress)
        }
        let data = result["data"] ?? .null
        context.printer.show(data, styled: Self.lines(of: data, at: WallClock.unixMilliseconds, context.printer.style))
    }

    static let row = Command<any CommandAction>(
        name: "tags",
        summary: "list the tags of the bridge and those within range",
        details: ["Requests the list from the bridge and prints a table."],
        options: [.config, .json, .color],
        json: ["The data of the bridge's result."],
        // Part of status; for one version its JSON has a command of its own.
        isHidden: true
    ) { arguments throws(CommandLineError) in try ClientAction(TagsCommand(), arguments) }

    /// The table: known tags first, then the others.
    ///
    /// - Parameters:
    ///   - data: `{"known":[...],"seen":[...]}`.
    ///   - now: milliseconds since 1970.
    ///   - style: what the output can show.
    /// - Returns: the lines.
    static func lines(of data: JSONValue, at now: Int64, _ style: TerminalStyle = .plain) -> [StyledLine] {
        let unknown = (data["seen"]?.elements ?? []).filter { $0["known"]?.flag != true }
        var table = TextTable(
            titles: ["ID", "SERIAL", "NAME", "ADDRESS", "STATE", "RSSI", "LAST SEEN"], state: "STATE")
        table.rows = (data["known"]?.elements ?? []).map { row($0, state($0), now) }
        table.rows += unknown.map { row($0, $0["connected"]?.flag == true ? "linked, not known" : "not known", now) }
        guard !table.rows.isEmpty else {
            return [StyledLine("There is no tag. To find those in reach: jacquard2mqtt scan")]
        }
        return table.lines(in: style)
    }

    private static func row(_ tag: JSONValue, _ state: String, _ now: Int64) -> [String] {
        let isConnected = tag["state"]?.string == "connected"
        let seen =
            isConnected
            ? "now" : tag["last_seen"]?.string.flatMap(TimeText.unixMilliseconds).map { Age.text(from: $0, to: now) }
        return ["id", "serial", "name", "address"].map { tag[$0]?.word ?? "" }
            + [state, tag["rssi"]?.word ?? "", seen ?? ""]
    }

    private static func state(_ tag: JSONValue) -> String {
        let state = ConnectionText(tag).short
        return tag["held"]?.flag == true ? "\(state), held" : state
    }
}
