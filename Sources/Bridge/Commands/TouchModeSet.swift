import JacquardProtocol

/// `touch_mode/set`: `gesture`, `continuous`, or an object with `touch_mode`.
struct TouchModeSet: TagRequest {
    static let name = "touch_mode/set"

    private let mode: TouchMode

    var operation: TagOperation? { .perform(.setTouchMode(mode)) }

    private static let words = TouchMode.allCases.map { Word($0.word, $0) }

    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure) {
        let mode: TouchMode? =
            switch payload {
            case .empty: nil
            case .text(let text): try CommandArguments(bareWord: text).word("payload", of: Self.words)
            case .object(let object): try CommandArguments(object).word("touch_mode", of: Self.words)
            }
        self.mode = try CommandArguments.required(mode, "touch_mode", mayBe: Self.words.listed())
    }

    func carriedOut(_ answer: CommandAnswer, by tag: inout TagMirror, at now: Moment) -> TagRequestOutcome {
        TagRequestOutcome(publications: tag.touchModeReported(mode))
    }
}
