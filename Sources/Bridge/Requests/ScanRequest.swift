/// `request/scan`: empty or an object with `duration_s` and `duplicates` starts or prolongs the scan; `stop` ends it.
struct ScanRequest: BridgeRequest {
    static let name = "scan"

    private enum Intent: Sendable {
        case scan(seconds: Int, allowsDuplicates: Bool)
        case stop
    }

    private let intent: Intent

    /// One second to one hour.
    private static let durations = 1...3_600
    private static let standardSeconds = 30
    private static let stopWords = [Word("stop", Intent.stop)]

    init(_ payload: CommandPayload, to bridge: BridgeState) throws(CommandFailure) {
        if case .text(let text) = payload {
            let stop = try CommandArguments(bareWord: text).word("payload", of: Self.stopWords)
            intent = try CommandArguments.required(stop, "payload", mayBe: Self.stopWords.listed())
            return
        }
        let arguments = try CommandArguments(emptyOrObject: payload)
        let seconds = try arguments.integer("duration_s", Self.durations)
        let allowsDuplicates = try arguments.flag("duplicates")
        intent = .scan(seconds: seconds ?? Self.standardSeconds, allowsDuplicates: allowsDuplicates ?? false)
    }

    var needsBluetooth: Bool {
        if case .scan = intent { true } else { false }
    }

    func begin(in bridge: inout BridgeState, token: UInt64, at now: Moment) -> BridgeRequestStep {
        switch intent {
        case .scan(_, let allowsDuplicates):
            let allowsDuplicates = allowsDuplicates || bridge.scan.allowsDuplicates
            bridge.scan.pendingStarts += 1
            return .underWay([.scan(allowsDuplicates: allowsDuplicates, token: token)])
        case .stop where bridge.scan.isScanning || bridge.scan.pendingStarts > 0:
            bridge.scan.pendingStops += 1
            return .underWay([.stopScan(token: token)])
        case .stop: return stopped(in: &bridge, at: now)
        }
    }

    func carriedOut(
        _ answer: CommandAnswer, in bridge: inout BridgeState, token: UInt64, at now: Moment
    ) -> BridgeRequestStep {
        switch intent {
        case .scan(let seconds, let allowsDuplicates):
            bridge.scan.pendingStarts -= 1
            let actions = bridge.scanBegan(for: .seconds(seconds), allowsDuplicates: allowsDuplicates, at: now)
            return .done(CommandData(ScanDocument(bridge.scan)), actions)
        case .stop:
            bridge.scan.pendingStops -= 1
            return stopped(in: &bridge, at: now)
        }
    }

    func failed(_ failure: CommandFailure, in bridge: inout BridgeState, at now: Moment) -> [BridgeAction] {
        switch intent {
        case .scan: bridge.scan.pendingStarts -= 1
        case .stop: bridge.scan.pendingStops -= 1
        }
        return []
    }

    /// Every stop request publishes an event, even if no scan was running.
    private func stopped(in bridge: inout BridgeState, at now: Moment) -> BridgeRequestStep {
        let facts = bridge.scan.end() ? [bridge.scanFact] + bridge.foundFact : []
        let event = bridge.event(.scanStopped, text: "asked for", at: now)
        return .done(CommandData(ScanDocument(bridge.scan)), bridge.publish(facts + [event]))
    }
}
