import JacquardProtocol

/// `connection/set`: `connect` or `disconnect`. A disconnect lasts until `connect`. The result is published when the
/// tag has reached the state.
struct ConnectionSet: TagRequest {
    static let name = "connection/set"
    static let ignoresHold = true

    let goal: TagGoal
    let operation: TagOperation? = nil

    private static let words = [Word("connect", TagGoal.connected), Word("disconnect", .disconnected)]

    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure) {
        let goal: TagGoal? =
            switch payload {
            case .empty: nil
            case .text(let text): try CommandArguments(bareWord: text).word("payload", of: Self.words)
            case .object(let object): try CommandArguments(object).word("connection", of: Self.words)
            }
        self.goal = try CommandArguments.required(goal, "connection", mayBe: Self.words.listed())
        if self.goal == .connected, tag.entry.connect == .never { throw tag.switchedOffFailure }
    }

    func accepted(by tag: inout TagMirror) {
        switch goal {
        case .connected: tag.release()
        case .disconnected: tag.hold()
        }
    }

    func carriedOut(_ answer: CommandAnswer, by tag: inout TagMirror, at now: Moment) -> TagRequestOutcome {
        TagRequestOutcome(data: CommandData(["state": tag.connection.state.word]))
    }
}
