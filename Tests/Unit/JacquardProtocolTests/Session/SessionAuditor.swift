import JacquardProtocol
import Time

/// The rules of every session, whatever happens to it.
struct SessionAuditor {
    private(set) var complaints: [String] = []
    private var told: TagConnection.State?
    private var isWriting = false
    private var openCommands: Set<UInt64> = []

    /// Checks one line of a transcript. The time is nil if a deadline had passed and the session was not notified.
    mutating func audit(
        _ input: SessionInput, _ actions: [TagSession.Action], of session: TagSession, at now: Instant?
    ) {
        begin(input)
        for action in actions { audit(action) }
        let isStopped = told == nil || told == .disconnected
        if isStopped != (session.deadline == nil && !session.isConnected) {
            complain("stopped and waiting for nothing must be the same", input)
        }
        if session.isConnected && told != .connected { complain("connected, and has not told it", input) }
        if let now, let deadline = session.deadline, deadline < now { complain("a deadline in the past", input) }
        if input == .deadline, let now, session.deadline == now { complain("a deadline that stays", input) }
        if !session.isConnected, !openCommands.isEmpty { complain("a command without a tag", input) }
    }

    private mutating func begin(_ input: SessionInput) {
        switch input {
        case .written, .writeFailed, .writeUnsent, .linkDown, .poweredOff: isWriting = false
        case .command(_, let token): openCommands.insert(token)
        default: break
        }
    }

    private mutating func audit(_ action: TagSession.Action) {
        switch action {
        case .write, .writeRaw:
            if isWriting { complaints.append("two writes at a time") }
            isWriting = true
        case .connect, .disconnect, .bond, .discover: isWriting = false
        case .subscribe: break
        case .emit(.connection(let connection)):
            told = connection.state
            if connection.attempt < 1 { complaints.append("attempt \(connection.attempt)") }
        case .emit(.commandEnded(let token, _)):
            if openCommands.remove(token) == nil { complaints.append("command \(token) ends a second time") }
        case .emit: break
        }
    }

    private mutating func complain(_ text: String, _ input: SessionInput) {
        complaints.append("\(text), after \(input)")
    }
}
