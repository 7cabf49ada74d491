import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import GATTRecording
import JSON
import Terminal
import Text

/// `checkup`: tries everything that a tag can do, with the owner's help, and prints what works.
struct CheckupCommand: ClientCommand {
    /// The tag's ID.
    let id: String
    /// The path of the report; nil: none.
    var report: String?
    /// Whether the owner is asked to do something.
    var isInteractive = true

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        var output: OwnerFile?
        if let report { output = try OwnerFile(creating: report) }
        let outcome: CheckupRun
        do throws(ClientFailure) {
            outcome = try await context.withSession { session throws(ClientFailure) in
                let run = CheckupRun(
                    id, isInteractive: isInteractive, readsLog: report != nil, session, context)
                try await run.perform()
                return run
            }
        } catch {
            output?.discard()
            throw error
        }
        let result = CheckupReport(
            findings: outcome.findings, facts: outcome.facts, tag: id, configuration: context.configuration,
            recording: outcome.scrubbedRecording, log: output == nil ? nil : await log(outcome),
            system: ReportSources.system)
        try output?.finish(result.text)
        context.printer.show(document(result), result.table + (report.map { ["", "report: \($0)"] } ?? []))
        if outcome.isBridgeOffline {
            var failure = ClientFailure.bridgeOffline(context.topics.instance)
            failure.isPrinted = true
            throw failure
        }
        try check(result.findings)
    }

    /// The bridge's log during the checkup; without the right to read it, that of the journal.
    @LoopActor
    private func log(_ run: CheckupRun) async -> String? {
        if let lines = run.log { return lines }
        return await ReportSources.log()
    }

    private func document(_ result: CheckupReport) -> JSONValue {
        [
            "tag": .string(id), "findings": .array(result.findings.map(\.document)), "report": JSONValue(report),
            "traffic": result.recording.map { TrafficSummary($0).document } ?? .null,
        ]
    }

    /// - Throws: `failed` if a feature differs or is missing.
    private func check(_ findings: [CheckupFinding]) throws(ClientFailure) {
        let count = findings.filter { !$0.verdict.isFine }.count
        guard count > 0 else { return }
        var failure = ClientFailure(
            exitCode: .failed, code: "differences",
            text:
                "\(count) of \(counted(findings.count, "feature")) \(count == 1 ? "differs or is" : "differ or are") missing",
            hint: report == nil ? "To report this tag: jacquard2mqtt checkup \(id) --report FILE" : nil)
        failure.isPrinted = true
        throw failure
    }

    static let row = Command<any CommandAction>(
        name: "checkup",
        summary: "try everything that a tag can do",
        details: [
            "Disconnects and connects the tag, tries each feature, asks you to brush the",
            "fabric or charge the tag, and prints a table: what works, differs or is",
            "missing. Enter skips a step. Ends with 1 if something differs or is missing.",
        ],
        options: [.config, .json, reportOption, noPromptsOption],
        operands: [.required("ID", .tag)],
        values: RowText.id,
        json: [
            #"{"tag","findings":[{"feature","result","detail","took_ms"}],"report","#,
            #""traffic"}; result is works, differs, missing or skipped."#,
        ],
        examples: ["checkup 003R", "checkup 003R --report tag.txt", "checkup 003R --no-prompts --json"]
    ) { arguments throws(CommandLineError) in
        let command = CheckupCommand(
            id: try arguments.operand(0, "ID", .topicLevel), report: arguments.options[reportOption.name],
            isInteractive: arguments.options[noPromptsOption.name] == nil)
        return try ClientAction(command, arguments)
    }

    private static let reportOption = OptionDescription(
        name: "--report", value: "FILE", completion: .file([]),
        details: [
            "Write a report to a new file: findings, versions, configuration, log and",
            "Bluetooth traffic, without serial numbers, names and addresses.",
        ])
    private static let noPromptsOption = OptionDescription(
        name: "--no-prompts", value: nil, details: ["Try only what needs no hands and no eyes."])
}
