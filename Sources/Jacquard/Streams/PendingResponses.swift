import JacquardProtocol

/// The callers that wait for the response to a command.
struct PendingResponses {
    typealias Response = Result<TagCommandResponse, TagCommandError>

    private var waiting: [UInt64: CheckedContinuation<Response, Never>] = [:]
    /// Smaller tokens belong to callers of ``JacquardManager/enqueue(_:on:token:)``.
    private var lastToken: UInt64 = 1 << 63

    /// Adds a caller.
    ///
    /// - Returns: the token for its command.
    mutating func add(_ continuation: CheckedContinuation<Response, Never>) -> UInt64 {
        lastToken += 1
        waiting[lastToken] = continuation
        return lastToken
    }

    /// Resumes the caller of a command that has ended.
    ///
    /// - Returns: false if no caller waits for the token.
    mutating func end(_ token: UInt64, _ response: Response) -> Bool {
        guard let continuation = waiting.removeValue(forKey: token) else { return false }
        continuation.resume(returning: response)
        return true
    }
}
