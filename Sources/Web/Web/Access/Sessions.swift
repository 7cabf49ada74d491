import HTTPServer
import Time

/// A session of a browser.
struct Session: Hashable, Sendable {
    /// The user's name; empty without users.
    let user: String
    /// Whose share of the sessions and streams it belongs to: the user's name, or with ingress that of Home Assistant's user.
    let owner: String
    let role: Role
    /// The token that each `POST` must contain.
    let token: String
    let expires: Instant
    /// The moment until which the session's publications are paid for, see ``Sessions/publish(_:at:)``.
    fileprivate var paidUntil: Instant
}

/// The sessions in memory, by the secret in the cookie.
struct Sessions {
    /// How long a session lasts.
    static let lifetime = Duration.seconds(12 * 3600)
    /// The most sessions.
    static let mostSessions = 256
    /// How many messages a session may publish in a second, and at once.
    static let messagesPerSecond = 20

    private var sessions: [String: Session] = [:]
    private var shares = FairShares<String, String>(total: Self.mostSessions)

    /// The number of sessions.
    var count: Int { sessions.count }

    /// Begins a session; `secret` is the random value of its cookie, `token` the one that each `POST` must contain.
    mutating func begin(
        _ user: String, of owner: String? = nil, _ role: Role, secret: String, token: String, at now: Instant
    ) -> Session {
        let session = Session(
            user: user, owner: owner ?? user, role: role, token: token, expires: now + Self.lifetime, paidUntil: now)
        if sessions.count >= Self.mostSessions {
            for expired in sessions.filter({ $0.value.expires <= now }).keys { end(expired) }
        }
        sessions[secret] = session
        if let lost = shares.add(secret, of: session.owner) { sessions[lost] = nil }
        return session
    }

    /// Returns the session of a cookie, or nil if there is none or it has expired.
    mutating func session(_ secret: String?, at now: Instant) -> Session? {
        guard let secret, let session = sessions[secret] else { return nil }
        guard session.expires > now else {
            end(secret)
            return nil
        }
        return session
    }

    /// Ends a session.
    mutating func end(_ secret: String) {
        if let session = sessions.removeValue(forKey: secret) { shares.remove(secret, of: session.owner) }
    }

    /// Counts a message of a session.
    ///
    /// Each message costs a share of a second. The cost may lie one second ahead of the time.
    ///
    /// - Returns: whether the message may be published.
    mutating func publish(_ secret: String, at now: Instant) -> Bool {
        guard let session = sessions[secret] else { return false }
        let price = Duration.seconds(1) / Self.messagesPerSecond
        let paid = max(session.paidUntil, now) + price
        guard paid <= now + .seconds(1) else { return false }
        sessions[secret]?.paidUntil = paid
        return true
    }
}

/// Counts wrong passwords by user and address, and of IPv6 by network, because a host can use any address of its network.
///
/// A user is not locked at other addresses, nor are other users at the same address.
struct LoginAttempts {
    /// How many wrong passwords within ``window`` lock a user at an address.
    static let mostFailures = 5
    /// How long a wrong password counts.
    static let window = Duration.seconds(60)
    /// How long a user is locked.
    static let lock = Duration.seconds(30)
    /// The most pairs of a user and an address in memory.
    static let mostSubjects = 1024

    private struct Subject: Hashable {
        let user: String
        let network: String

        init(_ user: String, _ address: String) {
            self.user = user
            network = PeerAddress.network(of: address)
        }
    }

    private struct Record {
        var failures: [Instant] = []
        var lockedUntil: Instant?
    }

    private var records: [Subject: Record] = [:]
    /// An address with many names loses its own records.
    private var shares = FairShares<String, Subject>(total: Self.mostSubjects)

    /// The number of pairs.
    var count: Int { records.count }

    /// Returns how long a user is still locked at an address, or nil if the user is not.
    func lockTime(of user: String, at address: String, _ now: Instant) -> Duration? {
        guard let end = records[Subject(user, address)]?.lockedUntil, end > now else { return nil }
        return end - now
    }

    /// Counts an attempt before its password is checked, so that attempts at the same time count too.
    mutating func began(_ user: String, at address: String, _ now: Instant) {
        let subject = Subject(user, address)
        var record = records[subject] ?? Record()
        record.failures = record.failures.filter { $0 + Self.window > now } + [now]
        if record.failures.count >= Self.mostFailures {
            record.lockedUntil = now + Self.lock
            record.failures = []
        }
        remove(subject)
        records[subject] = record
        if let lost = shares.add(subject, of: subject.network) { records[lost] = nil }
    }

    /// Handles a right password.
    mutating func succeeded(_ user: String, at address: String) {
        remove(Subject(user, address))
    }

    private mutating func remove(_ subject: Subject) {
        guard records.removeValue(forKey: subject) != nil else { return }
        shares.remove(subject, of: subject.network)
    }
}
