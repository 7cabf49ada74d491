import Configuration
import EventLoop
import Logging

/// What every command of the client has at hand.
struct ClientContext: Sendable {
    /// What the user has decided; the same that the bridge reads.
    let configuration: Settings
    /// Where to print.
    let printer: Printer
    /// Of the bus that BlueZ is on.
    let busAddress: String
    /// How the user ends what would go on.
    let interruption: Interruption
    /// For what the libraries report.
    let log: Logger

    /// Connects to the broker, does something there and says goodbye, whatever comes of it.
    @LoopActor
    func visit<Result>(
        _ body: @LoopActor (BrokerSession) async throws(ClientFailure) -> Result
    ) async throws(ClientFailure) -> Result {
        let session = BrokerSession(configuration, log: log)
        interruption.onFire = { [weak session] in session?.interrupt() }
        do throws(ClientFailure) {
            try await open(session)
            let result = try await body(session)
            await session.close()
            return result
        } catch {
            await session.close()
            throw error
        }
    }

    @LoopActor
    private func open(_ session: BrokerSession) async throws(ClientFailure) {
        let progress = Progress(printer)
        defer { progress.end() }
        progress.say("connecting to the broker")
        try await session.open()
    }
}
