import Bridge
import Configuration
import EventLoop
import MQTT

/// `monitor`: shows what is published as it comes, until Ctrl-C. A connection that breaks is made again.
struct MonitorCommand: Sendable {
    let context: ClientContext
    /// The id of the one tag that is shown; nil: all, and the bridge.
    let tag: String?
    /// Whether what was retained before is left out.
    var isNewOnly = false

    /// Prints events until Ctrl-C, or until standard output is closed.
    ///
    /// - Throws: `noConnection` when the broker does not take us at the beginning.
    @LoopActor
    func run() async throws(ClientFailure) {
        try await context.visit { session throws(ClientFailure) in
            do throws(ClientFailure) {
                for message in try await session.snapshot(of: filters) {
                    guard show(message, isInitial: true) else { return }
                }
            } catch  where error == .interrupted {
                return
            }
            await follow(session)
        }
    }

    private var filters: [String] {
        let topics = BridgeTopics(context.configuration)
        return [topics.everything(of: tag)] + (tag == nil ? [topics.everythingOfBridge] : [topics.state])
    }

    @LoopActor
    private func follow(_ session: BrokerSession) async {
        while let signal = await session.next(until: nil) {
            switch signal {
            case .message(let message): guard show(message, isInitial: false) else { return }
            case .lost(let error):
                context.printer.write(.standardError, "no connection to the broker: \(error.text); retrying")
            case .connected: session.subscribe(to: filters)
            case .taken, .refused: break
            case .interrupted: return
            }
        }
    }

    /// - Returns: whether standard output is still open.
    private func show(_ message: MQTTMessage, isInitial: Bool) -> Bool {
        if isNewOnly, message.isRetained { return true }
        let printer = context.printer
        let record = MonitorRecord(
            topic: message.topic, payload: message.payload, isRetained: message.isRetained, isInitial: isInitial,
            time: Moment.now.unixMilliseconds)
        if printer.isJSON { return printer.write(record.document) }
        guard let line = MonitorLine(record, BridgeTopics(context.configuration)) else { return true }
        return printer.write(.standardOutput, line.text, isEmphasized: line.isGesture)
    }
}
