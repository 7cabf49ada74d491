import Text
import Time

/// `request/health`: measures the process and returns the document of `G/health`.
struct HealthRequest: BridgeRequest {
    static let name = "health"

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
    }

    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        effects.add(.measure(token: token))
        return .underWay
    }

    func succeeded(
        _ response: RequestResponse, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) -> BridgeRequestStep {
        guard case .measured(let measurement) = response else { return .failed(.neverEnded) }
        bridge.measured(measurement, at: now, &effects)
        return .done(CommandData(bridge.healthDocument(at: now)))
    }
}

/// `request/log_level`: a level, or an object with `level`. It lasts until the next start.
struct LogLevelRequest: BridgeRequest {
    static let name = "log_level"
    static var needsPayload: Bool { true }
    static let keys = ["level"]

    private let level: LogLevel

    private static let words = LogLevel.allCases.map { Word($0.rawValue, $0) }

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        let word = try payload.word("level", of: Self.words)
        level = try CommandArguments.required(word, "level", mayBe: Self.words.listed())
    }

    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        effects.add(.setLogLevel(level))
        return .done(CommandData(["level": level.rawValue]))
    }
}

/// `request/refresh`: publishes all facts again, also those that the broker has.
struct RefreshRequest: BridgeRequest {
    static let name = "refresh"

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
    }

    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        if bridge.tags.work.refreshes.admits(at: now.instant) { bridge.publishAllAgain(at: now, &effects) }
        return .done(.none)
    }
}
