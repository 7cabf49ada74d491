import Bridge
import BrokerAccess
import CommandLine
import Configuration
import EventLoop
import JSON
import Terminal
import Text
import Time

/// `pair`: asks the bridge to pair a tag, and shows what to do with the tag and the remaining time.
struct PairCommand: ClientCommand {
    /// The serial printed on the tag.
    let serial: String
    /// The time limit of the bridge.
    let timeout: Duration
    /// The radio that pairs, if the bridge has several; nil: the one that receives the tag best.
    var radio: String?
    /// Whether to pair with each radio in turn.
    var pairsAll = false
    /// Whether to pair nothing, and to connect once with ``radio`` and its bond.
    var isCheck = false

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        guard !pairsAll else { return try await runAll(context) }
        let progress = Progress(context.printer)
        let countdown = Countdown(printer: context.printer, total: timeout)
        defer { countdown.end() }
        do throws(ClientFailure) {
            let result = try await context.withSession { session throws(ClientFailure) in
                let overview = try await TagOverview.read(session, progress)
                if let warning = overview?.warning(for: serial) { context.printer.write(.standardError, warning) }
                do throws(ClientFailure) {
                    return try await session.ask(
                        request(session.topics), progress, announce: announcement(overview, countdown))
                } catch  where error.code == "expired" {
                    countdown.end()
                    throw error.naming(try await TagOverview.read(session, progress))
                }
            }
            countdown.end()
            context.printer.show(result, [DisplayText.escaped(sentence(result))])
        } catch  where error == .interrupted && countdown.hasBegun {
            throw ClientFailure(
                exitCode: .failed, code: error.code,
                text: "Interrupted; the bridge continues to look for the tag until the time limit")
        }
    }

    /// The change of the tag; nil for a connected one.
    @LoopActor
    func announcement(_ overview: TagOverview?, _ countdown: Countdown) -> (() -> Void)? {
        guard overview?.isConnected(serial) != true else { return nil }
        return {
            countdown.begin(
                "Hold the button of the tag \(serial) for three seconds, near this machine: it then advertises for "
                    + "60 seconds; looking for it",
                everyTenSeconds: "looking for the tag \(serial)")
        }
    }

    func request(_ topics: BridgeTopics) -> ClientRequest {
        var keys: [String: JSONValue] = [
            "serial": .string(serial), "timeout_s": .integer(timeout.components.seconds),
        ]
        if let radio { keys["radio"] = .string(radio) }
        if isCheck { keys["check"] = true }
        return ClientRequest(
            verb: "pair", keys, topics,
            patience: timeout + .seconds(15), waitsFor: "the tag \(serial)")
    }

    private func sentence(_ result: JSONValue) -> String {
        let id = result["data"]?["id"]?.string ?? serial
        return id == serial ? "\(serial) is paired" : "\(serial) is paired, as \(id)"
    }

    static let row = Command<any CommandAction>(
        name: "pair",
        summary: "pair a tag and connect it",
        details: [
            "Asks the bridge to find the tag with this serial, to pair it and to keep",
            "it connected. Prints instructions and the remaining time on standard error.",
        ],
        options: [.config, .json, timeoutOption, radioOption, allOption],
        operands: [.required("SERIAL")],
        values: [
            "SERIAL is printed on the tag: the last four characters before the last",
            "hyphen, such as 003R, or the whole number, such as 0-07-9324FLHBK0003R-1903;",
            "case matters.",
        ],
        json: RowText.resultJSON,
        examples: ["pair 003R"]
    ) { arguments throws(CommandLineError) in
        let serial = try arguments.operand(0, "SERIAL", .serial.trimmed)
        let timeout = try arguments.value(of: timeoutOption, .wholeSeconds(1...300))
        let radio = arguments.options[radioOption.name]
        let pairsAll = arguments.options[allOption.name] != nil
        guard radio == nil || !pairsAll else {
            throw CommandLineError(message: "\(radioOption.name) and \(allOption.name) exclude each other")
        }
        return try ClientAction(
            PairCommand(serial: serial, timeout: timeout ?? .seconds(60), radio: radio, pairsAll: pairsAll), arguments)
    }

    private static let timeoutOption = OptionDescription(
        name: "--timeout", value: "SECONDS", details: ["The time limit for pairing, at most 300 (default: 60)."])
    private static let radioOption = OptionDescription(
        name: "--radio", value: "NAME",
        details: [
            "Pair with this radio of several, so that the tag has a bond",
            "there, too (default: the one that receives the tag best).",
        ])
    private static let allOption = OptionDescription(
        name: "--all-radios", value: nil,
        details: [
            "Pair with one radio after the other, then connect once with each",
            "one, in the opposite order, and print which ones work.",
        ])
}

extension ClientFailure {
    /// Adds the tags that are received to the failure of a pairing.
    fileprivate func naming(_ overview: TagOverview?) -> ClientFailure {
        guard let overview else { return self }
        return ClientFailure(
            exitCode: exitCode, code: code, text: "\(text); \(overview.received)", hint: hint)
    }
}
