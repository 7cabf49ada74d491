import Bridge
import BrokerAccess
import CommandLine
import Configuration
import EventLoop
import JSON
import Terminal
import Text

/// `radios`: lists the radios of the bridge, or prepares another computer to be one.
struct RadiosCommand: ClientCommand {
    /// The computer to prepare; nil: list the radios.
    var target: RadioSettings.SSH?
    /// Whether to prepare it now. Otherwise the commands are printed.
    var runs = false

    var usesBridge: Bool { target == nil }

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        if let target {
            let setup = RadioSetup(target)
            if runs { return try setup.run(context.printer) }
            return context.printer.show(setup.document, setup.lines)
        }
        let progress = Progress(context.printer)
        let facts = try await context.withSession { session throws(ClientFailure) -> RetainedFacts in
            defer { progress.end() }
            var facts = try await RetainedFacts.read(context.topics, session, progress)
            if facts.isOnline { facts.presence = try await session.presence() }
            return facts
        }
        guard facts.bridge("state") != nil || facts.bridge("adapter") != nil else {
            throw .bridgeUnknown(context.topics.instance, others: facts.otherBridges)
        }
        let list = RadioList(facts)
        context.printer.show(list.document, styled: list.lines(in: context.printer.style))
        guard !list.isOffline else {
            var failure = ClientFailure.bridgeOffline(context.topics.instance)
            failure.isPrinted = true
            throw failure
        }
    }

    private static let runOption = OptionDescription(
        name: "--run", value: nil, details: ["With setup: do it now. ssh may ask for a password."])
    private static let portOption = OptionDescription(
        name: "--port", value: "PORT", details: ["With setup: the port of the SSH server there, if it is not 22."])

    static let row = Command<any CommandAction>(
        name: "radios",
        summary: "list the radios, or set up another computer",
        details: [
            "Prints the radios as the bridge has published them: state, connected tags,",
            "free links, and tags with a bond. What this user may not read is unknown.",
            "Ends with 3 if the bridge is offline.",
            "",
            "setup USER@HOST prints how to make BlueZ of another computer a radio: a key",
            "that can do nothing but this. With --run it does so; run it as root.",
        ],
        options: [.config, .json, .color, portOption, runOption],
        operands: [.optional("ACTION", .words(["setup"])), .optional("USER@HOST")],
        values: ["ACTION is setup."],
        json: [
            #"{"radios":[{"radio","adapter","address","state","tags","free_links","#,
            #""bonds","error"}]}; null is unknown. setup: {"authorized_keys","steps"}."#,
        ],
        examples: ["radios", "radios setup pi@hall.lan", "radios setup pi@hall.lan --port 2222 --run"]
    ) { arguments throws(CommandLineError) in
        let action = try arguments.optionalOperand(0, "ACTION", ScalarRule<RadiosAction>.choice)
        let target = try arguments.optionalOperand(1, "USER@HOST", ScalarRule<String>.sshTarget)
        let runs = arguments.options[runOption.name] != nil
        guard (action == nil) == (target == nil) else { throw CommandLineError(message: "USER@HOST is missing") }
        var ssh = target.map { RadioSettings.SSH(target: $0) }
        ssh?.port = try arguments.value(of: portOption, .integer(1...65535))
        for option in [runOption, portOption] where action == nil && arguments.options[option.name] != nil {
            throw CommandLineError(message: "\(option.name) is for setup")
        }
        return try ClientAction(RadiosCommand(target: ssh, runs: runs), arguments)
    }
}

private enum RadiosAction: String, CaseIterable {
    case setup
}

/// The radios of a bridge, from what it retains.
struct RadioList: Equatable {
    /// One radio. nil is unknown.
    struct Row: Equatable {
        var name: String
        var adapter: JSONValue
        /// The IDs of connected tags.
        var tags: [String]?
        /// The IDs of tags with a bond.
        var bonds: [String]?
    }

    let rows: [Row]
    /// Whether the bridge is offline. What changes while it runs is then unknown.
    let isOffline: Bool

    init(_ facts: RetainedFacts) {
        let isOffline = facts.bridge("state") != nil && !facts.isOnline
        self.isOffline = isOffline
        // Without any topic of a known tag, this user may not read them.
        let ids = facts.tags
        let connections = ids.compactMap { id in facts.tag(id, "connection").map { (id, $0) } }
        let receptions = ids.compactMap { id in facts.tag(id, "radios").map { (id, $0) } }
        let isKnown = ids.isEmpty && facts.bridge("info") != nil
        rows = (facts.bridge("adapter")?.elements ?? []).map { adapter in
            let radio = adapter["radio"]?.string
            let name = radio ?? adapter["id"]?.string ?? ""
            let linked = connections.filter { _, connection in
                let place = radio == nil ? connection["adapter"] : connection["radio"]
                return connection["state"]?.string == "connected" && place?.string == name
            }
            let bonded = receptions.filter { _, list in
                (list.elements ?? []).contains { $0["radio"]?.string == name && $0["bonded"]?.flag == true }
            }
            let lasting = (adapter.members ?? [:]).filter { ["radio", "id", "address"].contains($0.key) }
            return Row(
                name: name, adapter: isOffline ? .object(lasting) : adapter,
                tags: isOffline || (connections.isEmpty && !isKnown) ? nil : linked.map(\.0),
                bonds: receptions.isEmpty && !isKnown ? nil : bonded.map(\.0))
        }
    }

    var document: JSONValue {
        func list(_ ids: [String]?) -> JSONValue { ids.map { .array($0.map(JSONValue.string)) } ?? .null }
        return [
            "radios": .array(
                rows.map { row in
                    func part(_ key: String) -> JSONValue { row.adapter[key] ?? .null }
                    return [
                        "radio": .string(row.name), "adapter": part("id"), "address": part("address"),
                        "state": part("state"), "tags": list(row.tags), "free_links": part("free_links"),
                        "bonds": list(row.bonds), "error": part("error"),
                    ]
                })
        ]
    }

    func lines(in style: TerminalStyle = .plain) -> [StyledLine] {
        guard !rows.isEmpty else { return [StyledLine("The radios are unknown: the bridge has not published them.")] }
        var table = TextTable(titles: ["RADIO", "ADAPTER", "STATE", "TAGS", "FREE LINKS", "BONDS"], state: "STATE")
        func list(_ ids: [String]?) -> String { ids.map { $0.isEmpty ? "0" : $0.joined(separator: ",") } ?? "unknown" }
        table.rows = rows.map { row in
            [
                row.name, row.adapter["id"]?.string ?? "", (row.adapter["state"]?.string ?? "unknown").asWords,
                list(row.tags), row.adapter["free_links"]?.word ?? "", list(row.bonds),
            ]
        }
        let errors = rows.compactMap { row in
            row.adapter["error"]?.string.map { StyledLine(DisplayText.escaped("\(row.name): \($0)")) }
        }
        return table.lines(in: style) + errors
    }
}
