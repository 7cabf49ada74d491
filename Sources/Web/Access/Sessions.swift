import HTTPServer
import Time

/// A session of a browser.
struct Session: Hashable, Sendable {
    /// The user's name; empty without users.
    let user: String
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
    /// The most sessions. The oldest one makes room.
    static let mostSessions = 256
    /// How many messages a session may publish in a second, and at once.
    static let messagesPerSecond = 20

    private var sessions: [String: Session] = [:]

    /// The number of sessions.
    var count: Int { sessions.count }

    /// Begins a session; `secret` is the random value of its cookie, `token` the one that each `POST` must contain.
    mutating func begin(_ user: String, _ role: Role, secret: String, token: String, at now: Instant) -> Session {
        if sessions.count >= Self.mostSessions { sessions = sessions.filter { $0.value.expires > now } }
        if sessions.count >= Self.mostSessions, let oldest = sessions.min(by: { $0.value.expires < $1.value.expires }) {
            sessions[oldest.key] = nil
        }
        let session = Session(user: user, role: role, token: token, expires: now + Self.lifetime, paidUntil: now)
        sessions[secret] = session
        return session
    }

    /// Returns the session of a cookie, or nil if there is none or it has expired.
    mutating func session(_ secret: String?, at now: Instant) -> Session? {
        guard let secret, let session = sessions[secret] else { return nil }
        guard session.expires > now else {
            sessions[secret] = nil
            return nil
        }
        return session
    }

    /// Ends a session.
    mutating func end(_ secret: String) {
        sessions[secret] = nil
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

/// Counts wrong passwords by address, and of IPv6 by network, because a host can use any address of its network.
struct LoginAttempts {
    /// How many wrong passwords within ``window`` lock an address.
    static let mostFailures = 5
    /// How long a wrong password counts.
    static let window = Duration.seconds(60)
    /// How long an address is locked.
    static let lock = Duration.seconds(30)
    /// The most addresses and networks in memory. The one whose last failure is longest ago makes room.
    static let mostAddresses = 1024

    private struct Record {
        var failures: [Instant] = []
        var lockedUntil: Instant?
    }

    private var records: [String: Record] = [:]

    /// The number of addresses and networks.
    var count: Int { records.count }

    /// Returns how long an address is still locked, or nil if it is not.
    func lockTime(of address: String, at now: Instant) -> Duration? {
        guard let end = records[PeerAddress.network(of: address)]?.lockedUntil, end > now else { return nil }
        return end - now
    }

    /// Counts an attempt before its password is checked, so that attempts at the same time count too.
    mutating func began(_ address: String, at now: Instant) {
        let address = PeerAddress.network(of: address)
        if records[address] == nil, records.count >= Self.mostAddresses { removeOldest() }
        var record = records[address] ?? Record()
        record.failures = record.failures.filter { $0 + Self.window > now } + [now]
        if record.failures.count >= Self.mostFailures {
            record.lockedUntil = now + Self.lock
            record.failures = []
        }
        records[address] = record
    }

    /// Handles a right password.
    mutating func succeeded(_ address: String) {
        records[PeerAddress.network(of: address)] = nil
    }

    private mutating func removeOldest() {
        let oldest = records.min { one, other in Self.last(one.value) < Self.last(other.value) }
        if let oldest { records[oldest.key] = nil }
    }

    private static func last(_ record: Record) -> Instant {
        max(record.lockedUntil ?? Instant(sinceBoot: .zero), record.failures.last ?? Instant(sinceBoot: .zero))
    }
}
