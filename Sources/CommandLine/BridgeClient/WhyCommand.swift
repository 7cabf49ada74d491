import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import Terminal
import Text

/// `why`: shows the links from the broker to a tag, and the first broken one.
struct WhyCommand: ClientCommand {
    /// The tag's ID.
    let id: String

    /// Prints the links.
    ///
    /// - Throws: after printing, if a link is broken; `noConnection` if the broker or the bridge is not there.
    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let report: WhyReport
        do throws(ClientFailure) {
            report = try await context.withSession { session throws(ClientFailure) in
                try await Self.report(on: id, session, Progress(context.printer))
            }
        } catch {
            // Without a broker there is nothing to read; other errors are no answer to the question.
            guard error.exitCode == .noConnection else { throw error }
            report = WhyReport(id, withoutBroker: error)
        }
        context.printer.show(report.document, styled: report.lines(context.printer.hint).map(StyledLine.init(state:)))
        if let failure = report.failure { throw failure }
    }

    @LoopActor
    private static func report(
        on id: String, _ session: BrokerSession, _ progress: Progress
    ) async throws(ClientFailure) -> WhyReport {
        defer { progress.end() }
        let facts = try await RetainedFacts.read(session.topics, session, progress)
        let now = WallClock.unixMilliseconds
        guard facts.bridge("state")?.string == "online" else { return WhyReport(id, offline: facts, at: now) }
        do throws(ClientFailure) {
            let request = ClientRequest(verb: "doctor", ["tag": .string(id)], session.topics)
            return WhyReport(id, try await session.ask(request, progress))
        } catch {
            switch error.code {
            case "unknown_tag":
                throw WhyReport.unknownTag(id, error, facts, try await TagOverview.read(session, progress))
            case "interrupted", "connection_lost": throw error
            default: return WhyReport(id, silent: error, facts, at: now)
            }
        }
    }

    static let row = Command<any CommandAction>(
        name: "why",
        summary: "find out why a tag is not connected",
        details: [
            "Shows the links from the broker to the tag: broker, bridge, adapter,",
            "policy, tag received, bond, link. Names the first broken one and what to",
            "do about it. Asks the bridge; if it does not answer, shows what the",
            "broker retains. Ends with 1 if a link is broken, and with 3 if this is",
            "the broker or the bridge.",
        ],
        options: [.config, .json, .color],
        operands: [.required("ID", .tag)],
        values: RowText.id,
        json: [
            #"{"bridge","tag","status","broken","chain":[{"name","title","verdict","#,
            #""found","remedies"}]}; broken is the name of the first failed check,"#,
            "or null.",
        ],
        examples: ["why 003R"]
    ) { arguments throws(CommandLineError) in
        try ClientAction(WhyCommand(id: try arguments.operand(0, "ID", .topicLevel)), arguments)
    }
}

/// The output of `why`.
struct WhyReport: Equatable, Sendable {
    private let id: String
    private let instance: String?
    /// The links from the broker to the tag, and the last error.
    private let chain: [Finding]
    /// Why the broker or the bridge does not answer.
    private var noConnection: ClientFailure?

    private var broken: Finding? { chain.first { $0.verdict == .failed } }

    /// The failure of the command; nil if no link is broken.
    var failure: ClientFailure? {
        guard var failure = noConnection ?? broken.map(Self.failure(id)) else { return nil }
        failure.isPrinted = true
        return failure
    }

    private static func failure(_ id: String) -> (Finding) -> ClientFailure {
        { broken in
            ClientFailure(
                exitCode: .failed, code: broken.check.rawValue,
                text: "Tag \(id) cannot be used: \(broken.check.title): \(broken.found)", hint: broken.remedies.first)
        }
    }

    /// `{"bridge","tag","status","broken","chain"}`.
    var document: JSONValue {
        [
            "bridge": JSONValue(instance), "tag": .string(id), "broken": JSONValue(broken?.check.rawValue),
            "status": .string(Finding.Verdict.worst(of: chain).rawValue), "chain": .array(chain.map(\.document)),
        ]
    }

    /// A line for each link, followed by its remedies.
    func lines(_ hint: CommandHint) -> [String] {
        chain.flatMap { $0.lines(completed: hint.completed) }
    }
}

// MARK: Sources of the links

extension WhyReport {
    /// From the result of `request/doctor`.
    init(_ id: String, _ result: JSONValue) {
        let data = result["data"]
        let findings = (data?["checks"]?.elements ?? []).compactMap { Finding($0) }
        let names = (data?["chain"]?.elements ?? []).compactMap(\.string) + [Check.lastError.rawValue]
        self.init(
            id: id, instance: result["bridge"]?.string,
            chain: names.compactMap { name in findings.first { $0.check.rawValue == name } })
    }

    /// Without a connection to the broker.
    init(_ id: String, withoutBroker failure: ClientFailure) {
        let broker = Finding(.broker, .failed, failure.text, remedies: [failure.hint].compactMap(\.self))
        let rest = [Check.bridge, .adapter, .received, .bond, .link].map {
            Finding($0, .skipped, "not known without the broker")
        }
        self.init(id: id, instance: nil, chain: [broker] + rest, noConnection: failure)
    }

    /// From the retained messages of a bridge that is offline or unknown.
    init(_ id: String, offline facts: RetainedFacts, at now: Int64) {
        let instance = facts.topics.instance
        let failure: ClientFailure =
            facts.bridge("state") == nil
            ? .bridgeUnknown(instance, others: facts.otherBridges) : .bridgeOffline(instance)
        func skipped(_ check: Check) -> Finding { Finding(check, .skipped, "not known while the bridge is offline") }
        let received = Self.lastSeen(id, facts, now).map { "last received \($0)" } ?? "not known"
        let chain = [
            Finding(.broker, .ok, "connected"),
            Finding(.bridge, .failed, failure.text, remedies: [failure.hint].compactMap(\.self)),
            skipped(.adapter), Finding(.received, .skipped, received), skipped(.bond), skipped(.link),
            Self.lastError(id, facts),
        ]
        self.init(id: id, instance: instance, chain: chain.compactMap(\.self), noConnection: failure)
    }

    /// From the retained messages of a bridge that is online, but does not answer.
    init(_ id: String, silent failure: ClientFailure, _ facts: RetainedFacts, at now: Int64) {
        let isConnected = facts.tag(id, "connection")?["state"]?.string == "connected"
        let bridge = Finding(
            .bridge, failure.exitCode == .noConnection ? .failed : .warning,
            failure.code == "no_answer" ? failure.text : "online, but: \(failure.text)",
            remedies: [failure.hint].compactMap(\.self))
        let received = Finding(
            .received, isConnected ? .ok : .skipped,
            Self.lastSeen(id, facts, now).map { "last received \($0)" } ?? "not known")
        self.init(
            id: id, instance: facts.topics.instance,
            chain: [Finding(.broker, .ok, "connected"), bridge, Self.adapter(facts), received, Self.link(id, facts)]
                + [Self.lastError(id, facts)].compactMap(\.self),
            noConnection: failure.exitCode == .noConnection ? failure : nil)
    }

    /// The adapter as the bridge has published it. What this user may not read is not known.
    private static func adapter(_ facts: RetainedFacts) -> Finding {
        guard let adapters = facts.bridge("adapter")?.elements else {
            return Finding(.adapter, .skipped, "not known: the broker sends this user no adapters")
        }
        let states = adapters.compactMap { $0["state"]?.string }
        guard !states.contains("powered_on") else { return Finding(.adapter, .ok, "on") }
        return Finding(
            .adapter, .failed, states.first?.asWords ?? "there is none", remedies: ["jacquard2mqtt doctor"])
    }

    /// The connection as the bridge has published it.
    private static func link(_ id: String, _ facts: RetainedFacts) -> Finding {
        guard let connection = facts.tag(id, "connection") else {
            guard let known = facts.bridge("info")?["tags"]?.elements?.compactMap(\.string), !known.contains(id) else {
                return Finding(.link, .skipped, "not known: the broker sends this user no connection of the tag")
            }
            return Finding(
                .link, .failed, "the bridge has no tag \(id)\(SerialLikeness.hint(for: id, in: known))",
                remedies: ["jacquard2mqtt status"])
        }
        guard connection["state"]?.string != "connected" else {
            return Finding(.link, .ok, ConnectionText(connection).long)
        }
        return Finding(
            .link, .failed, ConnectionText(connection).long,
            remedies: [connection["error"]?["hint"]?.string ?? TagAdvice.wake])
    }

    /// Completes the error for a tag that the bridge does not know: another bridge has it, or other tags are received.
    static func unknownTag(
        _ id: String, _ error: ClientFailure, _ facts: RetainedFacts, _ overview: TagOverview?
    ) -> ClientFailure {
        var error = error
        if let owner = facts.tag(id, "info")?["bridge"]?.string, owner != facts.topics.instance {
            error.hint = "it belongs to another bridge: JACQUARD2MQTT_INSTANCE=\(owner) jacquard2mqtt why \(id)"
        } else if let overview, !overview.strangers.isEmpty {
            error.hint =
                "not paired, but \(overview.received); to pair a tag: jacquard2mqtt pair SERIAL"
        }
        return error
    }

    private static func lastSeen(_ id: String, _ facts: RetainedFacts, _ now: Int64) -> String? {
        facts.tag(id, "connection")?["last_seen"]?.string.flatMap(TimeText.unixMilliseconds).map {
            Age.text(from: $0, to: now)
        }
    }

    private static func lastError(_ id: String, _ facts: RetainedFacts) -> Finding? {
        guard let error = facts.tag(id, "connection")?["error"], let code = error["code"]?.string else { return nil }
        return Finding(
            .lastError, .warning, "\(code): \(error["text"]?.string ?? "")",
            remedies: [error["hint"]?.string].compactMap(\.self))
    }
}
