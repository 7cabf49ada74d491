import HTTPServer
import PasswordHash
import Time

/// A session of a browser.
struct Session: Hashable, Sendable {
    /// What its cookie is recognized by.
    fileprivate enum Key: Hashable, Sendable {
        /// The secret of a browser. It is not hashed, because it is in memory only, and libcrypto takes 2 MB from its first hash on.
        case secret(String)
        /// The hash of the secret of a device, which is stored.
        case hash(String)
    }

    fileprivate let key: Key
    /// The user's name; empty without users.
    let user: String
    /// Whose share of the sessions and streams it belongs to: the user's name, or with ingress that of Home Assistant's user.
    let owner: String
    let role: Role
    /// The name of the device that it was made for; nil for a session of a browser, which ends by itself.
    let device: String?
    /// The token that each `POST` must contain.
    let token: String
    /// When it began, and when it was last used and shown, in milliseconds since 1970-01-01T00:00:00Z.
    let began: Int64
    fileprivate(set) var used: Int64
    fileprivate(set) var expires: Instant
    /// When it ends in any case; nil for a device.
    fileprivate let end: Instant?
    /// The moment until which the session's publications are paid for, see ``Sessions/publish(_:at:)``.
    fileprivate var paidUntil: Instant

    /// Names it in the list of sessions, until this process ends.
    var id: String { String(UInt(bitPattern: key.hashValue), radix: 16) }

    /// How long it lasts without being used.
    fileprivate var patience: Duration { device == nil ? Sessions.lifetime : Sessions.deviceLifetime }
}

/// The session of a device, as it is kept across restarts.
struct StoredDevice: Hashable, Sendable {
    /// The name of the device.
    let name: String
    /// The hash of the secret in its cookie, in hexadecimal digits.
    let hash: String
    /// As ``Session/began`` and ``Session/used``.
    let began: Int64
    let used: Int64
}

/// The sessions of browsers and of devices.
struct Sessions {
    /// How long a session lasts without being used and shown.
    static let lifetime = Duration.seconds(12 * 3600)
    /// How long it lasts at most.
    static let longest = Duration.seconds(30 * 86_400)
    /// How long the session of a device lasts without being used and shown.
    static let deviceLifetime = Duration.seconds(90 * 86_400)
    /// The most sessions.
    static let mostSessions = 256
    /// How many messages a session may publish in a second, and at once.
    static let messagesPerSecond = 20
    /// How much later than before a device was used for that to be stored.
    private static let storedAccuracy: Int64 = 3_600_000

    private var sessions: [Session.Key: Session] = [:]
    private var shares = FairShares<String, Session.Key>(total: Self.mostSessions)
    /// What ``takeChangedDevices()`` has returned last.
    private var stored: [StoredDevice] = []

    /// The number of sessions.
    var count: Int { sessions.count }

    /// The sessions that have not expired, the oldest first.
    func all(at now: Instant) -> [Session] {
        sessions.values.filter { $0.expires > now }.sorted { ($0.began, $0.id) < ($1.began, $1.id) }
    }

    /// Begins a session; `secret` is the random value of its cookie, `token` the one that each `POST` must contain. An earlier session of
    /// the same device ends.
    mutating func begin(
        _ user: String, of owner: String? = nil, _ role: Role, device: String? = nil, secret: String, token: String,
        at now: PageServer.Moment
    ) -> Session {
        if let device { end { $0.device == device } }
        let session = Session(
            key: device == nil ? .secret(secret) : .hash(SecretHash.of(secret)), user: user,
            owner: device.map(Self.owner(ofDevice:)) ?? owner ?? user, role: role, device: device, token: token,
            began: now.unixMilliseconds, used: now.unixMilliseconds,
            expires: now.instant + (device == nil ? Self.lifetime : Self.deviceLifetime),
            end: device == nil ? now.instant + Self.longest : nil, paidUntil: now.instant)
        if sessions.count >= Self.mostSessions { end { $0.expires <= now.instant } }
        add(session)
        return session
    }

    private mutating func add(_ session: Session) {
        sessions[session.key] = session
        if let lost = shares.add(session.key, of: session.owner) { sessions[lost] = nil }
    }

    /// A device has a share of its own, so that no browser takes its session.
    private static func owner(ofDevice name: String) -> String { "device \(name)" }

    /// Returns the session of a cookie, or nil if there is none or it has expired.
    mutating func session(_ secret: String?, at now: Instant) -> Session? {
        guard let secret, let session = sessions[.secret(secret)] ?? device(secret) else { return nil }
        guard session.expires > now else {
            end(session)
            return nil
        }
        return session
    }

    private func device(_ secret: String) -> Session? {
        guard sessions.values.contains(where: { $0.device != nil }) else { return nil }
        return sessions[.hash(SecretHash.of(secret))]
    }

    /// Prolongs a session, which is used and shown.
    ///
    /// - Returns: how long it lasts from now.
    mutating func prolong(_ session: Session, at now: PageServer.Moment) -> Duration {
        var session = session
        session.used = now.unixMilliseconds
        session.expires = now.instant + session.patience
        if let end = session.end { session.expires = min(session.expires, end) }
        sessions[session.key] = session
        return session.expires - now.instant
    }

    /// Ends a session.
    mutating func end(_ session: Session) {
        if sessions.removeValue(forKey: session.key) != nil { shares.remove(session.key, of: session.owner) }
    }

    /// Ends the session with an id.
    ///
    /// - Returns: whether there was one.
    mutating func end(id: String) -> Bool {
        let count = sessions.count
        end { $0.id == id }
        return sessions.count < count
    }

    private mutating func end(where isMeant: (Session) -> Bool) {
        for session in sessions.values.filter(isMeant) { end(session) }
    }

    /// Counts a message of a session.
    ///
    /// Each message costs a share of a second. The cost may lie one second ahead of the time.
    ///
    /// - Returns: whether the message may be published.
    mutating func publish(_ session: Session, at now: Instant) -> Bool {
        let price = Duration.seconds(1) / Self.messagesPerSecond
        let paid = max(session.paidUntil, now) + price
        guard paid <= now + .seconds(1) else { return false }
        sessions[session.key]?.paidUntil = paid
        return true
    }
}

// MARK: Devices

extension Sessions {
    /// Goes on with the sessions of devices of an earlier run; `token` makes the token of each.
    mutating func restore(_ devices: [StoredDevice], token: () -> String, at now: PageServer.Moment) {
        for device in devices where count < Self.mostSessions {
            // The clock may have been set back since.
            let unused = Duration.milliseconds(max(0, now.unixMilliseconds - device.used))
            guard unused < Self.deviceLifetime else { continue }
            add(
                Session(
                    key: .hash(device.hash), user: "", owner: Self.owner(ofDevice: device.name),
                    role: .admin, device: device.name, token: token(), began: device.began, used: device.used,
                    expires: now.instant + (Self.deviceLifetime - unused), end: nil, paidUntil: now.instant))
        }
        stored = self.devices
    }

    /// The sessions of devices.
    private var devices: [StoredDevice] {
        sessions.values.compactMap { session in
            guard let name = session.device, case .hash(let hash) = session.key else { return nil }
            return StoredDevice(name: name, hash: hash, began: session.began, used: session.used)
        }.sorted { $0.name < $1.name }
    }

    /// Returns the sessions of devices if they are to be stored: another one, one less, or one that was used an hour later.
    mutating func takeChangedDevices() -> [StoredDevice]? {
        let devices = devices
        let isSame =
            devices.count == stored.count
            && zip(devices, stored).allSatisfy { new, old in
                new.hash == old.hash && new.used - old.used < Self.storedAccuracy
            }
        guard !isSame else { return nil }
        stored = devices
        return devices
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
