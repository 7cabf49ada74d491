import Bridge
import CommandLine
import EventLoop
import JSON
import Text
import Time

/// `pair`: asks the bridge to pair a tag, says what to do with the tag, and counts down while the bridge looks for it.
///
/// For machines the bridge's result is printed as it came (MQTT contract, section 4).
struct PairCommand: Sendable {
    let context: ClientContext
    /// The serial printed on the tag.
    let serial: String
    /// How long the bridge may take.
    let timeout: Duration

    /// Asks the bridge and prints the result.
    ///
    /// - Throws: the error of the result, or `noConnection`.
    @LoopActor
    func run() async throws(ClientFailure) {
        let progress = Progress(context.printer)
        let countdown = Countdown(printer: context.printer, total: timeout)
        defer { countdown.end() }
        do throws(ClientFailure) {
            let result = try await context.visit { session throws(ClientFailure) in
                let announce = {
                    countdown.begin(
                        "Hold the button of the tag \(serial) for three seconds, near this machine; looking for it",
                        everyTenSeconds: "looking for the tag \(serial)")
                }
                return try await session.ask(request(session.topics), progress, announce: announce)
            }
            countdown.end()
            context.printer.show(result, [DisplayText.escaped(sentence(result))])
        } catch  where error == .interrupted && countdown.hasBegun {
            throw ClientFailure(
                exitCode: .failed, code: error.code,
                text: "Interrupted; the bridge looks for the tag until its time is over")
        }
    }

    private func request(_ topics: BridgeTopics) -> BridgeRequest {
        BridgeRequest(
            verb: "pair", ["serial": .string(serial), "timeout_s": .integer(timeout.components.seconds)], topics,
            patience: timeout + .seconds(15), waitsFor: "the tag \(serial)")
    }

    private func sentence(_ result: JSONValue) -> String {
        let id = result["data"]?["id"]?.string ?? serial
        return id == serial ? "\(serial) is paired" : "\(serial) is paired, as \(id)"
    }
}
