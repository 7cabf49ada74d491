import BrokerAccess
import CommandLine
import EventLoop
import JSON
import Terminal
import Text

/// `pair --all-radios`.
extension PairCommand {
    /// Pairs with each radio in turn. A radio that fails does not end it.
    @LoopActor
    func runAll(_ context: ClientContext) async throws(ClientFailure) {
        let progress = Progress(context.printer)
        let (results, facts) = try await context.withSession { session throws(ClientFailure) in
            defer { progress.end() }
            let before = RadioList(try await RetainedFacts.read(context.topics, session))
            let names = before.rows.filter { $0.adapter["radio"]?.string != nil }.map(\.name)
            guard !names.isEmpty else { throw .oneRadio }
            var results: [(radio: String, failure: ClientFailure?)] = []
            for (index, name) in names.enumerated() {
                progress.end()
                let line = "Radio \(name), \(index + 1) of \(names.count): bring the tag there"
                context.printer.write(.standardError, DisplayText.escaped(line))
                results.append((name, try await failure(of: name, session, progress, context)))
            }
            return (results, try await RetainedFacts.read(context.topics, session))
        }
        let id = facts.tags.first { facts.tag($0, "info")?["serial"]?.string == serial } ?? serial
        let bonded = (facts.tag(id, "radios")?.elements ?? []).filter { $0["bonded"]?.flag == true }
            .compactMap { $0["radio"]?.string }
        let isDone = results.allSatisfy { $0.failure == nil }
        let rows = results.map { radio, failure -> JSONValue in
            let error = failure.map { ["code": .string($0.code), "text": .string($0.text)] as JSONValue }
            return ["radio": .string(radio), "error": error ?? .null]
        }
        let lines = results.map { "\($0.radio): \($0.failure.map { "not paired: \($0.text)" } ?? "paired")" }
        let names = bonded.isEmpty ? "no radio that is known" : bonded.joined(separator: ", ")
        let bonds = "\(serial) has bonds with: \(names)"
        context.printer.show(
            [
                "status": isDone ? "ok" : "failed", "results": .array(rows),
                "bonds": .array(bonded.map(JSONValue.string)),
            ], (lines + [bonds]).map(DisplayText.escaped))
        guard isDone else { throw .someRadios }
    }

    /// Pairs with one radio.
    ///
    /// - Returns: why it failed; nil if it did not.
    /// - Throws: `interrupted`, or an error without which no other radio can be tried.
    @LoopActor
    private func failure(
        of radio: String, _ session: BrokerSession, _ progress: Progress, _ context: ClientContext
    ) async throws(ClientFailure) -> ClientFailure? {
        let countdown = Countdown(printer: context.printer, total: timeout)
        defer { countdown.end() }
        var command = self
        command.radio = radio
        do throws(ClientFailure) {
            let overview = try await TagOverview.read(session, progress)
            _ = try await session.ask(
                command.request(session.topics), progress, announce: command.announcement(overview, countdown))
            return nil
        } catch {
            guard error.exitCode == .failed, error != .interrupted else { throw error }
            return error
        }
    }
}

extension ClientFailure {
    fileprivate static let oneRadio = ClientFailure(
        exitCode: .failed, code: "one_radio", text: "This bridge has one radio; leave --all-radios out")

    /// Some radios have failed; printed.
    fileprivate static var someRadios: ClientFailure {
        var failure = ClientFailure(exitCode: .failed, code: "failed", text: "Not all radios are paired")
        failure.isPrinted = true
        return failure
    }
}
