/// `request/log_level`: a level, or an object with `level`. It lasts until the next start.
struct LogLevelRequest: BridgeRequest {
    static let name = "log_level"

    private let level: LogThreshold

    private static let words = LogThreshold.allCases.map { Word($0.rawValue, $0) }

    init(_ payload: CommandPayload, to bridge: BridgeState) throws(CommandFailure) {
        let level: LogThreshold? =
            switch payload {
            case .empty: nil
            case .text(let text): try CommandArguments(bareWord: text).word("payload", of: Self.words)
            case .object(let object): try CommandArguments(object).word("level", of: Self.words)
            }
        self.level = try CommandArguments.required(level, "level", mayBe: Self.words.listed())
    }

    func begin(in bridge: inout BridgeState, token: UInt64, at now: Moment) -> BridgeRequestStep {
        .done(CommandData(["level": level.rawValue]), [.setLogLevel(level)])
    }
}
