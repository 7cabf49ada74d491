import Text

/// `request/health`: measures the process and returns the document of `G/health`.
struct HealthRequest: BridgeRequest {
    static let name = "health"

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
    }

    func begin(in bridge: borrowing BridgeState, token: UInt64) -> BridgeRequestStep {
        .underWay([.action(.measure(token: token))])
    }

    func succeeded(_ response: RequestResponse, token: UInt64) -> BridgeRequestStep {
        guard case .measured(let measurement) = response else { return .failed(.neverEnded) }
        return .done(.health, [.measured(measurement)])
    }
}

/// `request/log_level`: a level, or an object with `level`. It lasts until the next start.
struct LogLevelRequest: BridgeRequest {
    static let name = "log_level"
    static let keys = ["level"]

    private let level: LogLevel

    private static let words = LogLevel.allCases.map { Word($0.rawValue, $0) }

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        let level: LogLevel? =
            switch payload {
            case .empty: nil
            case .text(let text): try CommandArguments(bareWord: text).word("payload", of: Self.words)
            case .object(let arguments): try arguments.word("level", of: Self.words)
            }
        self.level = try CommandArguments.required(level, "level", mayBe: Self.words.listed())
    }

    func begin(in bridge: borrowing BridgeState, token: UInt64) -> BridgeRequestStep {
        .done(.data(CommandData(["level": level.rawValue])), [.action(.setLogLevel(level))])
    }
}

/// `request/refresh`: publishes all facts again, also those that the broker has.
struct RefreshRequest: BridgeRequest {
    static let name = "refresh"

    /// The minimum interval; requests in between are combined.
    static let interval = Duration.seconds(10)

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
    }

    func begin(in bridge: borrowing BridgeState, token: UInt64) -> BridgeRequestStep {
        .done(.data(.none), [.refreshed])
    }
}
