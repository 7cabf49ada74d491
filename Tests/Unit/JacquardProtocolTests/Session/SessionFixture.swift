import JacquardProtocol
import Testing
import Time

/// A session with a clock that the test moves, and with the tag's ears: it knows which request was written last.
struct SessionFixture {
    var session: TagSession
    private(set) var now = Instant(sinceBoot: .seconds(3_600))
    /// The id of the last request that was written whole.
    private(set) var lastID: UInt32 = 0
    /// The last request that was written whole.
    private(set) var lastRequest: Request?
    /// Violations of the rules of every session.
    var complaints: [String] { auditor.complaints }
    /// Whether a connected session waits for nothing but the next request for the battery.
    var isIdle: Bool { session.isConnected && session.deadline.map { $0 - now > .seconds(3000) } ?? false }
    private var ears = Reassembler()
    private var auditor = SessionAuditor()

    init(timing: TagSession.Timing = TagSession.Timing(), seed: UInt64 = 1) {
        session = TagSession(timing: timing, seed: seed)
    }

    /// One line of a transcript: what happens, and what the session does.
    mutating func on(_ input: SessionInput) -> [TagSession.Action] {
        let isOverdue = session.deadline.map { $0 < now } ?? false
        let actions = session.take(input, at: now)
        auditor.audit(input, actions, of: session, at: isOverdue ? nil : now)
        for case .write(let fragment, _) in actions { hear(fragment) }
        return actions
    }

    /// Time passes; a deadline that lies in it is reached.
    mutating func after(_ duration: Duration) -> [TagSession.Action] {
        now += duration
        return on(.deadline)
    }

    /// Advances the clock without notifying the session.
    mutating func pass(_ duration: Duration) {
        now += duration
    }

    /// Time passes until the next deadline.
    mutating func atDeadline() throws -> [TagSession.Action] {
        now = max(now, try #require(session.deadline))
        return on(.deadline)
    }

    /// The tag answers the last request, or one with another id.
    mutating func answer(
        _ body: Response.Body? = nil, status: Status = .ok, id: UInt32? = nil
    ) -> [TagSession.Action] {
        let response = Response(id: id ?? lastID, status: status, componentID: 0, body: body)
        return receive(response.encoded(), on: .response)
    }

    /// The tag sends a notification.
    mutating func notify(_ notification: Notification) -> [TagSession.Action] {
        receive(notification.encoded(), on: .notify)
    }

    /// All writes are confirmed, and then the tag answers.
    mutating func confirmAndAnswer(_ body: Response.Body? = nil, status: Status = .ok) -> [TagSession.Action] {
        confirm() + answer(body, status: status)
    }

    /// All writes of the present request are confirmed.
    mutating func confirm() -> [TagSession.Action] {
        var all: [TagSession.Action] = []
        var actions = on(.written)
        while !actions.isEmpty {
            all += actions
            actions = on(.written)
        }
        return all
    }

    private mutating func receive(_ packet: [UInt8], on characteristic: TagCharacteristic) -> [TagSession.Action] {
        let fragments = (try? Fragmenter.fragments(of: packet)) ?? []
        return fragments.flatMap { on(.received($0, on: characteristic)) }
    }

    private mutating func hear(_ fragment: [UInt8]) {
        guard case .packet(let packet) = ears.receive(fragment), let heard = try? Request.decode(packet) else { return }
        (lastID, lastRequest) = heard
    }
}
