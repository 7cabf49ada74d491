import BrokerAccess
import CommandLine
import EventLoop
import JSON
import Terminal
import Text

/// `pair --all-radios`.
extension PairCommand {
    /// Pairs with each radio in turn, then connects once with each radio that has a bond. A radio that fails does not end it.
    @LoopActor
    func runAll(_ context: ClientContext) async throws(ClientFailure) {
        let progress = Progress(context.printer)
        let report = try await context.withSession { session throws(ClientFailure) in
            defer { progress.end() }
            let before = RadioList(try await RetainedFacts.read(context.topics, session))
            let names = before.rows.filter { $0.adapter["radio"]?.string != nil }.map(\.name)
            guard !names.isEmpty else { throw .oneRadio }
            var report = RadioPairings(serial: serial, rows: names.map { .init(radio: $0) })
            for (index, name) in names.enumerated() {
                progress.end()
                context.announce("Radio \(name), \(index + 1) of \(names.count): bring the tag there")
                report.rows[index].failure = try await failure(of: name, session, progress, context)
            }
            let bonded = try await bondedRadios(session, context)
            // The way back: the tag is at the last radio.
            let checked = report.rows.indices.reversed().filter { bonded.contains(report.rows[$0].radio) }
            for (number, index) in checked.enumerated() {
                let name = report.rows[index].radio
                progress.end()
                context.announce(
                    "Checking the bond with \(name), \(number + 1) of \(checked.count): bring the tag there")
                let failure = try await failure(of: name, isCheck: true, session, progress, context)
                report.rows[index].check = failure.map { .fails($0) } ?? .works
            }
            report.bonds = try await bondedRadios(session, context)
            return report
        }
        context.printer.show(report.document, report.lines.map(DisplayText.escaped))
        guard report.isDone else { throw .someRadios }
    }

    /// The radios with a bond that the tag accepts, as far as the bridge knows.
    @LoopActor
    private func bondedRadios(
        _ session: BrokerSession, _ context: ClientContext
    ) async throws(ClientFailure) -> [String] {
        let facts = try await RetainedFacts.read(context.topics, session)
        let id = facts.tags.first { facts.tag($0, "info")?["serial"]?.string == serial } ?? serial
        return (facts.tag(id, "radios")?.elements ?? []).filter { $0["bonded"]?.flag == true }
            .compactMap { $0["radio"]?.string }
    }

    /// Pairs with one radio, or connects once with it.
    ///
    /// - Returns: why it failed; nil if it did not.
    /// - Throws: `interrupted`, or an error without which no other radio can be tried.
    @LoopActor
    private func failure(
        of radio: String, isCheck: Bool = false, _ session: BrokerSession, _ progress: Progress,
        _ context: ClientContext
    ) async throws(ClientFailure) -> ClientFailure? {
        let countdown = Countdown(printer: context.printer, total: timeout)
        defer { countdown.end() }
        var command = self
        (command.radio, command.isCheck) = (radio, isCheck)
        do throws(ClientFailure) {
            let overview = isCheck ? nil : try await TagOverview.read(session, progress)
            let announcement = isCheck ? nil : command.announcement(overview, countdown)
            _ = try await session.ask(command.request(session.topics), progress, announce: announcement)
            return nil
        } catch {
            guard error.exitCode == .failed, error != .interrupted else { throw error }
            return error
        }
    }
}

extension ClientContext {
    /// Prints what to do next.
    @LoopActor
    fileprivate func announce(_ line: String) {
        printer.write(.standardError, DisplayText.escaped(line))
    }
}

/// The result of `pair --all-radios`.
struct RadioPairings {
    /// One radio.
    struct Row {
        let radio: String
        /// Why the tag was not paired; nil if it was.
        var failure: ClientFailure?
        var check = Check.skipped
    }

    /// The connection with a radio and its bond.
    enum Check {
        /// The radio has no bond.
        case skipped
        case works
        case fails(ClientFailure)
    }

    let serial: String
    var rows: [Row]
    /// The radios with a bond, after the checks.
    var bonds: [String] = []

    /// Whether each radio is paired and works.
    var isDone: Bool {
        rows.allSatisfy { row in
            guard row.failure == nil, case .works = row.check else { return false }
            return true
        }
    }

    var document: JSONValue {
        let results = rows.map { row -> JSONValue in
            let (works, checkError): (JSONValue, JSONValue) =
                switch row.check {
                case .skipped: (.null, .null)
                case .works: (true, .null)
                case .fails(let failure): (false, failure.document)
                }
            return [
                "radio": .string(row.radio), "error": row.failure?.document ?? .null, "works": works,
                "check_error": checkError,
            ]
        }
        return [
            "status": isDone ? "ok" : "failed", "results": .array(results),
            "bonds": .array(bonds.map(JSONValue.string)),
        ]
    }

    var lines: [String] {
        let names = bonds.isEmpty ? "no radio that is known" : bonds.joined(separator: ", ")
        return rows.map { row in
            let paired = row.failure.map { "not paired: \($0.text)" } ?? "paired"
            let works =
                switch row.check {
                case .skipped: row.failure == nil ? "; not checked: it has no bond" : ""
                case .works: row.failure == nil ? ", works" : "; an earlier bond works"
                case .fails(let failure): "; does not work: \(failure.text)"
                }
            return "\(row.radio): \(paired)\(works)"
        } + ["\(serial) has bonds with: \(names)"]
    }
}

extension ClientFailure {
    fileprivate var document: JSONValue { ["code": .string(code), "text": .string(text)] }

    fileprivate static let oneRadio = ClientFailure(
        exitCode: .failed, code: "one_radio", text: "This bridge has one radio; leave --all-radios out")

    /// Some radios have failed; printed.
    fileprivate static var someRadios: ClientFailure {
        var failure = ClientFailure(exitCode: .failed, code: "failed", text: "Not all radios are paired")
        failure.isPrinted = true
        return failure
    }
}
