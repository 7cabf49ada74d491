import JacquardProtocol
import Time

/// Actions as a transcript writes them.
extension TagSession.Action {
    /// The connection has changed.
    static func connection(
        _ state: TagConnection.State, attempt: Int = 1, _ error: TagConnectionError? = nil,
        retryAt: Instant? = nil
    ) -> Self {
        .emit(.connection(TagConnection(state: state, attempt: attempt, error: error, retryAt: retryAt)))
    }

    /// A fragment of a request is written, by default the first.
    static func request(
        _ request: Request, id: UInt32, fragment: Int = 0, withResponse: Bool = true
    ) -> Self {
        let fragments = (try? Fragmenter.fragments(of: request.encoded(id: id))) ?? []
        return .write(fragments[fragment], withResponse: withResponse)
    }

    /// A command ends.
    static func end(_ token: UInt64, _ result: Result<TagCommandResponse, TagCommandError>) -> Self {
        .emit(.commandEnded(token: token, result))
    }

    /// A command ends with an error.
    static func end(_ token: UInt64, _ error: TagCommandError) -> Self {
        .end(token, .failure(error))
    }
}

extension [TagSession.Action] {
    /// The reported connection states.
    var connections: [TagConnection] {
        compactMap { if case .emit(.connection(let connection)) = $0 { connection } else { nil } }
    }

    /// The commands that end.
    var ends: [UInt64] {
        compactMap { if case .emit(.commandEnded(let token, _)) = $0 { token } else { nil } }
    }

    /// How many values are written.
    var writes: Int {
        count { if case .write = $0 { true } else { false } }
    }
}
