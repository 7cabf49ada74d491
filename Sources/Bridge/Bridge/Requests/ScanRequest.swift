/// `request/scan`: empty or an object with `duration_s` and `duplicates` starts or prolongs the scan; `stop` ends it.
struct ScanRequest: BridgeRequest {
    static let name = "scan"
    static let keys = ["duration_s", "duplicates"]

    private enum Intent: Sendable {
        case scan(seconds: Int, allowsDuplicates: Bool)
        case stop
    }

    private let intent: Intent

    /// One second to one hour.
    private static let durations = 1...3_600
    private static let standardSeconds = 30

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        guard try !payload.isStop() else {
            intent = .stop
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

    func begin(in bridge: borrowing BridgeState, token: UInt64) -> BridgeRequestStep {
        switch intent {
        case .scan(_, let allowsDuplicates):
            let allowsDuplicates = allowsDuplicates || bridge.scan.allowsDuplicates
            return .underWay([
                .scan(.startRequested), .action(.scan(allowsDuplicates: allowsDuplicates, token: token)),
            ])
        case .stop where bridge.scan.isWanted:
            return .underWay([.scan(.stopRequested), .action(.stopScan(token: token))])
        case .stop: return .done(.scan, [.scan(.nothingToStop)])
        }
    }

    func succeeded(_ response: RequestResponse, token: UInt64) -> BridgeRequestStep {
        switch intent {
        case .scan(let seconds, let allowsDuplicates):
            .done(.scan, [.scan(.started(.seconds(seconds), allowsDuplicates: allowsDuplicates))])
        case .stop: .done(.scan, [.scan(.stopped)])
        }
    }

    func failed(_ failure: CommandFailure, token: UInt64) -> [BridgeRequestEffect] {
        switch intent {
        case .scan: [.scan(.startFailed)]
        case .stop: [.scan(.stopFailed)]
        }
    }
}
