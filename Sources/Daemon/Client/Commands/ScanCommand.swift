import CommandLine
import EventLoop

/// `scan`: which tags are in reach. The running bridge listens; where none runs, this process does.
struct ScanCommand: Sendable {
    let context: ClientContext
    /// How long to listen.
    let duration: Duration

    /// Listens and prints what was heard.
    ///
    /// - Throws: the error of the bridge, or `noConnection` when there is neither a bridge nor a usable adapter.
    @LoopActor
    func run() async throws(ClientFailure) {
        let report = try await listen()
        context.printer.show(report.document, report.lines)
    }

    @LoopActor
    private func listen() async throws(ClientFailure) -> ScanReport {
        do throws(ClientFailure) {
            return try await BridgeScan(context: context, duration: duration).run()
        } catch  where error.exitCode == .noConnection {
            do throws(ClientFailure) {
                return try await AdapterScan(context: context, duration: duration).run()
            } catch let own {
                throw ClientFailure(
                    exitCode: own.exitCode, code: own.code,
                    text: "No bridge scans for us (\(error.text)), and this machine cannot either: \(own.text)",
                    hint: own.hint)
            }
        }
    }
}
