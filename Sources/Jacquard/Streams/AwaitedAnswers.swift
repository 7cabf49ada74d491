import JacquardProtocol

/// Who waits for the end of which command.
struct AwaitedAnswers {
    typealias Answer = Result<TagCommandAnswer, TagCommandError>

    private var waiting: [UInt64: CheckedContinuation<Answer, Never>] = [:]
    /// Tokens below are for those who use the event interface.
    private var lastToken: UInt64 = 1 << 63

    /// Somebody waits.
    ///
    /// - Returns: the token of his command.
    mutating func add(_ continuation: CheckedContinuation<Answer, Never>) -> UInt64 {
        lastToken += 1
        waiting[lastToken] = continuation
        return lastToken
    }

    /// A command has ended.
    ///
    /// - Returns: whether somebody has waited for it.
    mutating func end(_ token: UInt64, _ answer: Answer) -> Bool {
        guard let continuation = waiting.removeValue(forKey: token) else { return false }
        continuation.resume(returning: answer)
        return true
    }
}
