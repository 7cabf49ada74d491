import Time

/// `request/scan`: empty or an object with `duration_s` and `duplicates` starts or prolongs the scan; `stop`, also in
/// `scan`, ends it.
struct ScanRequest: BridgeRequest {
    static let name = "scan"
    static let keys = ["scan", "duration_s", "duplicates"]

    private enum Intent: Sendable {
        case scan(seconds: Int, allowsDuplicates: Bool)
        case stop
    }

    private let intent: Intent

    /// One second to one hour.
    private static let durations = 1...3_600
    private static let standardSeconds = 30

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        let starts = try payload.starts("scan")
        let arguments = try CommandArguments(payload, word: "scan")
        let seconds = try arguments.integer("duration_s", Self.durations)
        let allowsDuplicates = try arguments.flag("duplicates")
        guard starts else {
            intent = .stop
            return
        }
        intent = .scan(seconds: seconds ?? Self.standardSeconds, allowsDuplicates: allowsDuplicates ?? false)
    }

    var needsBluetooth: Bool {
        if case .scan = intent { true } else { false }
    }

    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        switch intent {
        case .scan(_, let allowsDuplicates):
            let allowsDuplicates = allowsDuplicates || bridge.search.scan.allowsDuplicates
            bridge.scanChanged(.startRequested, at: now, &effects)
            effects.add(.scan(allowsDuplicates: allowsDuplicates, token: token))
            return .underWay
        case .stop where bridge.search.scan.isWanted:
            bridge.scanChanged(.stopRequested, at: now, &effects)
            effects.add(.stopScan(token: token))
            return .underWay
        case .stop: return done(.nothingToStop, in: &bridge, at: now, &effects)
        }
    }

    func succeeded(
        _ response: RequestResponse, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) -> BridgeRequestStep {
        switch intent {
        case .scan(let seconds, let allowsDuplicates):
            done(.started(.seconds(seconds), allowsDuplicates: allowsDuplicates), in: &bridge, at: now, &effects)
        case .stop: done(.stopped, in: &bridge, at: now, &effects)
        }
    }

    private func done(
        _ event: ScanState.Event, in bridge: inout BridgeState, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        bridge.scanChanged(event, at: now, &effects)
        return .done(CommandData(ScanDocument(scan: bridge.search.scan)))
    }

    func failed(
        _ failure: CommandFailure, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) {
        switch intent {
        case .scan: bridge.scanChanged(.startFailed, at: now, &effects)
        case .stop: bridge.scanChanged(.stopFailed, at: now, &effects)
        }
    }
}
