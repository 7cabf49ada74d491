import Bridge
import HTTPServer
import JSON
import PasswordHash
import Text
import Time

/// State machine of the page's server: requests go in, and what to do about them comes out.
///
/// It checks where a request comes from, its session, token and role, and keeps the mirror of the broker's topics.
struct PageServer {
    /// The current time of both clocks.
    struct Moment: Hashable, Sendable {
        let instant: Instant
        let unixMilliseconds: Int64

        var unixSeconds: Int64 { unixMilliseconds / 1000 }
    }

    /// A user who can log in.
    struct User: Hashable, Sendable {
        let name: String
        let hash: String
        let role: Role
    }

    /// The treatment of a request.
    enum Action: Hashable {
        /// Send the response.
        case respond(HTTPResponse)
        /// Check a password off the loop, then call ``loginChecked(_:_:_:random:at:)``.
        case checkPassword(Login, password: String, hash: String)
        /// Check the key of a one-time link off the loop, then call ``loginChecked(_:_:_:random:at:)``.
        case checkKey(Login, key: String)
        /// Check the password of a reader of metrics off the loop, then call ``readerChecked(_:_:_:_:)``.
        case checkReader(Login, BasicCredentials, hash: String, MetricsReading)
        /// Ask the bridge for its metrics, for a reader of this owner.
        case metrics(bridge: String, MetricsText.Format, of: String)
        /// Begin a stream of events.
        case stream(Subscription)
        /// Send the headers of a stream of events, without a stream.
        case streamHeaders
        /// Publish a message, then send the response.
        case publish(topic: String, payload: [UInt8], HTTPResponse)
        /// End the streams without a session, store the sessions of devices, then send the response.
        case sessionsChanged(HTTPResponse)

        /// Whether the response says that there were too many wrong passwords or keys.
        var isLocked: Bool {
            if case .respond(let response) = self { response.status == 429 } else { false }
        }
    }

    /// A login whose password is being checked.
    struct Login: Hashable, Sendable {
        let user: String
        let role: Role
        let address: String
        /// The name of the session's cookie.
        let cookie: String
        /// The device that a one-time link is for; nil for a browser.
        var device: String?
        /// Whether there is such a user. The password is checked in any case, so that the duration does not reveal it.
        let isKnown: Bool
    }

    /// The topics that a browser receives.
    struct Subscription: Hashable, Sendable {
        let secret: String
        /// Whose share of the streams it belongs to.
        let owner: String
        let role: Role
        /// The browser's last event; nil: it needs the mirror.
        let after: EventID?
        /// The tags whose touch streams the browser shows.
        let touch: Set<String>
    }

    /// The beginning of the name of the session's cookie, see ``cookieName(of:)``.
    static let cookie = "jacquard2mqtt"
    /// The header of the session's token.
    static let tokenHeader = "x-token"
    /// A hash of no password, for users that do not exist. It has yescrypt's default cost.
    static let unknownUser = "$y$j9T$aaaaaaaaaaaaaaaaaaaaa.$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."

    let rules: AccessRules
    let users: [User]
    let isEncrypted: Bool
    /// The port on which the page listens.
    let port: UInt16
    let version: String
    /// Whether the page has `metrics`.
    let hasMetrics: Bool
    var sessions = Sessions()
    private var attempts = LoginAttempts()
    /// Of readers of metrics.
    var verified = VerifiedPasswords()
    var scrapes: MetricsScrapes
    var mirror: TopicMirror
    var presence: PresenceCheck
    var history = History()
    /// Whether the broker is connected, since when, and when it was last heard.
    private(set) var broker: (isConnected: Bool, since: Int64, heard: Instant, text: String)
    /// The most touch streams of a browser.
    private static let mostTouchStreams = 16
    private var commands = 0

    init(
        rules: AccessRules, users: [User], isEncrypted: Bool, port: UInt16, base: String, boot: String,
        version: String, hasMetrics: Bool = false, at now: Moment
    ) {
        self.rules = rules
        self.users = users
        self.isEncrypted = isEncrypted
        self.port = port
        self.version = version
        self.hasMetrics = hasMetrics
        scrapes = MetricsScrapes(boot: boot)
        mirror = TopicMirror(base: base, boot: boot)
        presence = PresenceCheck(base: base, boot: boot)
        broker = (false, now.unixMilliseconds, now.instant, "not connected yet")
    }

    /// Handles a request; `random` returns a random text of 256 bits.
    mutating func handle(_ request: HTTPRequest, at now: Moment, random: () -> String) -> Action {
        guard rules.admits(peer: request.peer, headers: request.headers) else {
            return .respond(.error(403, "not_ingress", "Only Home Assistant's supervisor may connect."))
        }
        guard isEncrypted || rules.isOwnHost(request.headers) else {
            return .respond(
                .error(
                    403, "wrong_host",
                    "The page does not have this name. Open it by its IP address or localhost, or add the name to trusted_origins."
                ))
        }
        switch (request.method, request.path) {
        case ("GET", Self.metricsPath) where hasMetrics, ("HEAD", Self.metricsPath) where hasMetrics:
            return metrics(request, at: now)
        case (_, Self.metricsPath) where hasMetrics: return .respond(.methodNotAllowed("GET, HEAD"))
        case ("GET", _), ("HEAD", _): return get(request, at: now)
        case ("POST", "/login"), ("POST", "/logout"), ("POST", "/publish"), ("POST", "/sessions"): break
        case ("POST", _): return .respond(.error(404, "not_found", "There is no such page."))
        default: return .respond(.methodNotAllowed("GET, HEAD, POST"))
        }
        guard rules.trusts(request.headers, from: request.peer) else {
            return .respond(.error(403, "wrong_origin", "The request does not come from this page."))
        }
        guard Self.isJSON(request.headers["content-type"]) else {
            return .respond(.error(415, "unsupported_type", "The body must be application/json."))
        }
        if request.path == "/login" { return login(request, at: now, random: random) }
        let secret = secret(of: request)
        guard let secret, let session = sessions.session(secret, at: now.instant) else {
            return .respond(Self.noSession)
        }
        guard let token = request.headers[Self.tokenHeader], Secrets.isEqual(token, session.token) else {
            return .respond(
                .error(403, "wrong_token", "The request does not have the session's token. Reload the page."))
        }
        if request.path == "/logout" {
            sessions.end(session)
            var response = HTTPResponse.json(200, [:])
            response.headers.append(("Set-Cookie", cookie(cookieName(of: request), "", lifetime: 0)))
            return .sessionsChanged(response)
        }
        _ = sessions.prolong(session, at: now)
        if request.path == "/sessions" { return endSession(request, session) }
        return publish(request, session, at: now)
    }

    static let noSession = HTTPResponse.error(401, "no_session", "Log in first.")

    /// Whether a `Content-Type` is JSON. A form of another site cannot send it.
    private static func isJSON(_ type: String?) -> Bool {
        let essence = type?.split(separator: ";").first.map { String($0).lowercased().filter { $0 != " " } }
        return essence == "application/json"
    }

    // MARK: GET

    private mutating func get(_ request: HTTPRequest, at now: Moment) -> Action {
        if let file = PageFiles.response(for: request.path, known: request.headers["if-none-match"]) {
            return .respond(file)
        }
        guard ["/session", "/sessions", "/events", "/history"].contains(request.path) else {
            return .respond(.error(404, "not_found", "There is no such page."))
        }
        let secret = secret(of: request)
        guard let secret, let session = sessions.session(secret, at: now.instant) else {
            return .respond(request.path == "/session" ? withoutSession : Self.noSession)
        }
        switch request.path {
        // A page that is shown asks again and again. Streams do not count: hidden pages have some, too.
        case "/session":
            return .respond(
                described(session, secret, cookie: cookieName(of: request), for: sessions.prolong(session, at: now)))
        case "/sessions":
            guard session.role == .admin else { return .respond(Self.notAdmin) }
            return .respond(
                .json(
                    200,
                    ["sessions": .array(sessions.all(at: now.instant).map { entry($0, isOwn: $0.id == session.id) })]))
        case "/history":
            guard let tag = request.query["tag"], TopicPattern.isID(tag) else {
                return .respond(.error(400, "invalid_argument", "tag must be a tag's id."))
            }
            guard let days = Int64(request.query["days"] ?? "1"), let span = History.Span(rawValue: days) else {
                return .respond(.error(400, "invalid_argument", "days must be 1 or 7."))
            }
            return .respond(.json(200, history.document(of: tag, span, at: now.unixSeconds)))
        default:
            let touch = request.query["touch"]?.split(separator: ",", omittingEmptySubsequences: false) ?? []
            guard touch.count <= Self.mostTouchStreams, touch.allSatisfy({ TopicPattern.isID($0) }) else {
                return .respond(.error(400, "invalid_argument", "touch must be ids of tags, with commas between them."))
            }
            guard request.method == "GET" else { return .streamHeaders }
            // A browser that reconnects by itself sends the header; a page that opens a stream again can only set a query.
            let last = (request.headers["last-event-id"] ?? request.query["after"]).flatMap(EventID.init)
            return .stream(
                Subscription(
                    secret: secret, owner: session.owner, role: session.role, after: last,
                    touch: Set(touch.map(String.init))))
        }
    }

    /// The way to log in, for the page.
    private var withoutSession: HTTPResponse {
        let login: JSONValue =
            switch rules.authentication {
            case .users: "password"
            case .link: "link"
            case .ingress: "ingress"
            }
        return .json(401, ["error": ["code": "no_session", "text": "Log in first."], "login": login])
    }

    private func description(of session: Session) -> JSONValue {
        [
            "user": .string(session.user), "role": .string(session.role.rawValue), "token": .string(session.token),
            "base": .string(mirror.base), "version": .string(version),
            "writable": .array(session.role.writable.map(JSONValue.string)),
            "has_links": .bool(rules.authentication == .link), "controls": PageControls.commands,
            "touch_modes": PageControls.touchModes,
        ]
    }

    // MARK: Login

    private mutating func login(_ request: HTTPRequest, at now: Moment, random: () -> String) -> Action {
        guard let body = JSONValue(parsing: request.body), case .object = body else {
            return .respond(.error(400, "invalid_json", "The body is not a JSON object."))
        }
        let address = rules.address(peer: request.peer, headers: request.headers)
        switch rules.authentication {
        case .ingress:
            let owner = RequestHeaders.remoteUser(request.headers)
            let cookie = cookieName(of: request)
            return .respond(begin(user: "", of: owner, .admin, cookie: cookie, random: random, at: now))
        case .users:
            guard let name = body["user"]?.string, let password = body["password"]?.string, name.utf8.count <= 64,
                password.utf8.count <= PasswordHash.longestPassword
            else { return .respond(.error(400, "invalid_argument", "user and password are needed.")) }
            if let refusal = locked(name, at: address, now) { return .respond(refusal) }
            let user = users.first { $0.name.utf8.elementsEqual(name.utf8) }
            let login = began(name, user, by: request, at: now)
            return .checkPassword(login, password: password, hash: user?.hash ?? Self.unknownUser)
        case .link:
            guard let key = body["key"]?.string, key.utf8.count <= 128 else {
                return .respond(.error(400, "invalid_argument", "Open the link of \"jacquard2mqtt-web open\"."))
            }
            // Wrong keys never lock: a right one cannot be guessed.
            return .checkKey(
                Login(
                    user: "", role: .admin, address: address, cookie: cookieName(of: request),
                    device: LinkKey.device(of: key), isKnown: true), key: key)
        }
    }

    /// Counts an attempt to log in, whose password is to be checked.
    mutating func began(_ name: String, _ user: User?, by request: HTTPRequest, at now: Moment) -> Login {
        let address = rules.address(peer: request.peer, headers: request.headers)
        attempts.began(name, at: address, now.instant)
        return Login(
            user: name, role: user?.role ?? .viewer, address: address, cookie: cookieName(of: request),
            isKnown: user != nil)
    }

    /// Handles a right password.
    mutating func succeeded(_ login: Login) {
        attempts.succeeded(login.user, at: login.address)
    }

    /// The response to a user who is locked at an address after wrong passwords; nil if the user is not.
    func locked(_ user: String, at address: String, _ now: Moment) -> HTTPResponse? {
        attempts.lockTime(of: user, at: address, now.instant).map(Self.locked)
    }

    /// Handles the result of a check.
    ///
    /// - Returns: the response to the login.
    mutating func loginChecked(
        _ login: Login, _ isRight: Bool, random: () -> String, at now: Moment
    ) -> HTTPResponse {
        guard isRight, login.isKnown else {
            return rules.authentication == .link
                ? wrongKey(login, at: now) : .error(401, "wrong_login", "The name or the password is wrong.")
        }
        succeeded(login)
        return begin(
            user: login.user, login.role, device: login.device, cookie: login.cookie, random: random, at: now)
    }

    /// The response to a wrong key. They are counted, so that those of a loop are not logged.
    private mutating func wrongKey(_ login: Login, at now: Moment) -> HTTPResponse {
        if let refusal = locked(login.user, at: login.address, now) { return refusal }
        attempts.began(login.user, at: login.address, now.instant)
        return .error(401, "wrong_key", "This link was used already, or is older than ten minutes.")
    }

    private mutating func begin(
        user: String, of owner: String? = nil, _ role: Role, device: String? = nil, cookie name: String,
        random: () -> String, at now: Moment
    ) -> HTTPResponse {
        let secret = random()
        let session = sessions.begin(user, of: owner, role, device: device, secret: secret, token: random(), at: now)
        return described(session, secret, cookie: name, for: session.expires - now.instant)
    }

    /// The description of a session, with its cookie.
    private func described(
        _ session: Session, _ secret: String, cookie name: String, for lifetime: Duration
    ) -> HTTPResponse {
        var response = HTTPResponse.json(200, description(of: session))
        response.headers.append(("Set-Cookie", cookie(name, secret, lifetime: lifetime.components.seconds)))
        return response
    }

    /// Without `Path`, a browser binds a cookie to the folder of the address that set it: also below a prefix that a proxy removes.
    private func cookie(_ name: String, _ value: String, lifetime: Int64) -> String {
        "\(name)=\(value); HttpOnly; SameSite=Strict; Max-Age=\(lifetime)" + (isEncrypted ? "; Secure" : "")
    }

    /// The secret of the session's cookie in a request.
    func secret(of request: HTTPRequest) -> String? {
        RequestHeaders.cookie(cookieName(of: request), in: request.headers["cookie"])
    }

    /// The name of the session's cookie, such as `jacquard2mqtt-8377`.
    ///
    /// A browser sends the cookies of a host to all of its ports. The name contains the port on which the page listens, so that two
    /// pages of a host have two sessions; and the port that the browser uses, if it is another one: with `ssh -L`, two pages on the
    /// same port of two hosts have the same host name in the browser.
    func cookieName(of request: HTTPRequest) -> String {
        let own = "\(Self.cookie)-\(port)"
        guard let used = rules.port(request.headers, from: request.peer), used != port else { return own }
        return "\(own)-\(used)"
    }

    private static func locked(_ wait: Duration) -> HTTPResponse {
        let seconds = wait.components.seconds + 1
        var response = HTTPResponse.error(
            429, "locked", "Too many wrong passwords. Try again in \(counted(Int(seconds), "second")).")
        response.headers.append(("Retry-After", "\(seconds)"))
        return response
    }

    // MARK: Sessions

    private static let notAdmin = HTTPResponse.error(
        403, "not_permitted", "Only the role admin may see and end sessions.")

    /// A session in the list of sessions.
    private func entry(_ session: Session, isOwn: Bool) -> JSONValue {
        [
            "id": .string(session.id), "user": .string(session.user), "role": .string(session.role.rawValue),
            "device": session.device.map(JSONValue.string) ?? .null, "began_ms": .integer(session.began),
            "used_ms": .integer(session.used), "is_own": .bool(isOwn),
        ]
    }

    /// Ends a session by its id: `{"end":"..."}`.
    private mutating func endSession(_ request: HTTPRequest, _ own: Session) -> Action {
        guard own.role == .admin else { return .respond(Self.notAdmin) }
        guard case .object(let members)? = JSONValue(parsing: request.body), members.count == 1,
            let id = members["end"]?.string
        else { return .respond(.error(400, "invalid_argument", "The body must be {\"end\":\"ID\"}.")) }
        guard sessions.end(id: id) else {
            return .respond(.error(404, "unknown_session", "There is no such session. It may have ended."))
        }
        return .sessionsChanged(.json(200, [:]))
    }

    // MARK: Publishing

    private mutating func publish(
        _ request: HTTPRequest, _ session: Session, at now: Moment
    ) -> Action {
        commands += 1
        let id = "web-\(mirror.boot)-\(commands)"
        let message: PublishRequest
        do throws(PublishRequest.Rejection) {
            message = try PublishRequest(request.body, id: id, role: session.role, base: mirror.base)
        } catch {
            let status = error == .notPermitted ? 403 : error == .tooLarge ? 413 : 400
            return .respond(.error(status, error.rawValue, error.text))
        }
        guard sessions.publish(session, at: now.instant) else {
            return .respond(.error(429, "too_many", "At most \(Sessions.messagesPerSecond) commands a second."))
        }
        guard broker.isConnected else {
            return .respond(.error(503, "broker_away", "The broker is not connected: \(broker.text)"))
        }
        return .publish(topic: message.topic, payload: message.payload, .json(202, ["id": .string(id)]))
    }

    // MARK: Streams

    /// Whether a session is valid.
    mutating func isValid(_ secret: String, at now: Instant) -> Bool {
        sessions.session(secret, at: now) != nil
    }

    /// Handles a change of the broker's connection.
    ///
    /// - Returns: the event for browsers.
    mutating func brokerChanged(isConnected: Bool, _ text: String, at now: Moment) -> [UInt8] {
        if isConnected {
            mirror.connected()
        } else {
            presence.disconnected()
            history.brokerLost(at: now.unixSeconds)
        }
        if broker.isConnected != isConnected { broker.since = now.unixMilliseconds }
        broker.isConnected = isConnected
        broker.text = text
        if isConnected { broker.heard = now.instant }
        return brokerEvent(at: now)
    }

    /// Handles the end of the stored messages after a connection to the broker.
    ///
    /// - Returns: the event for browsers, which wait for it to know all tags and bridges; nil if they had it.
    mutating func storedReceived() -> [UInt8]? {
        mirror.storedReceived() ? ready : nil
    }

    /// The event after the facts and the history: a browser has everything up to its number.
    private var ready: [UInt8] {
        StreamText.event(
            named: "ready", Array("{}".utf8), id: EventID(boot: mirror.boot, number: mirror.lastNumber))
    }

    /// Handles the time at which the broker was last heard; nil if it is not known.
    mutating func brokerHeard(at instant: Instant?) {
        if let instant { broker.heard = max(broker.heard, instant) }
    }

    /// The state of the broker's connection with the server's clock, for the ages that browsers show. Sent again and again, so that
    /// a browser notices when it no longer hears from the server.
    func brokerEvent(at now: Moment) -> [UInt8] {
        let document: JSONValue = [
            "connected": .bool(broker.isConnected), "since_ms": .integer(broker.since), "text": .string(broker.text),
            "heard_ms": .integer(now.unixMilliseconds - max(0, (now.instant - broker.heard).milliseconds)),
            "now_ms": .integer(now.unixMilliseconds),
        ]
        return StreamText.event(named: "broker", JSONText.bytes(of: document))
    }

    /// Handles a message of the broker.
    ///
    /// - Parameters:
    ///   - rest: the topic below the base topic.
    ///   - topic: the topic.
    ///   - payload: the payload.
    ///   - isStored: whether the broker may have stored it.
    ///   - now: the time.
    /// - Returns: the event for browsers; nil if there is none.
    mutating func received(
        _ rest: Substring, topic: String, payload: [UInt8], isStored: Bool = false, at now: Moment
    ) -> MirrorEvent? {
        guard payload.count <= TopicMirror.payloadLimit else { return nil }
        // It is not known when a stored gesture was made.
        if !isStored || TopicMirror.isFact(rest) {
            // A bridge that is back publishes its facts again.
            let isRepeated = isStored || mirror.holds(payload, at: topic)
            history.received(rest, payload, isStored: isRepeated, at: now.unixSeconds)
        }
        return mirror.received(topic: topic, payload: payload, at: now.unixMilliseconds, isStored: isStored)
    }

    /// Asks the bridges that are online by a stored message, after the end of the stored messages.
    mutating func presenceRequests(at now: Instant) -> [PresenceCheck.Request] {
        presence.storedReceived(mirror.bridges.filter { $0.value == "online" }.map(\.key), at: now)
    }

    /// Handles a message as a sign of life of its bridge. Only bridges publish below their topics, apart from requests; an empty
    /// message may clear the topic of a bridge that does not run.
    ///
    /// - Returns: the event for browsers if the bridge has not answered before.
    mutating func bridgeHeard(
        _ rest: Substring, isEmpty: Bool, isStored: Bool, at now: Moment
    ) -> MirrorEvent? {
        guard rest.hasPrefix("bridge/"), !isEmpty, mirror.isCurrent || !isStored else { return nil }
        let levels = rest.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard levels.count > 2, levels[2] != "request" else { return nil }
        let bridge = String(levels[1])
        if mirror.isOnline(bridge) { presence.heard(bridge) }
        return setSilent(false, bridge, at: now)
    }

    private mutating func setSilent(_ isSilent: Bool, _ bridge: String, at now: Moment) -> MirrorEvent? {
        let event = mirror.setSilent(isSilent, bridge)
        if event != nil {
            history.bridgeChanged(bridge, isOnline: !isSilent, isSameRun: true, at: now.unixSeconds)
        }
        return event
    }

    /// Ends the wait for the answers of bridges.
    ///
    /// - Returns: the events for browsers.
    mutating func presenceEnded(at now: Moment) -> [MirrorEvent] {
        presence.end().compactMap { setSilent(true, $0, at: now) }
    }

    /// Removes the facts that were deleted while the broker was away.
    ///
    /// - Returns: the events for browsers.
    mutating func removeStale(at now: Moment) -> [MirrorEvent] {
        let events = mirror.removeStale()
        for event in events {
            guard let rest = TopicPattern.rest(of: event.topic, below: mirror.base) else { continue }
            history.received(rest, [], at: now.unixSeconds)
        }
        return events
    }

    /// The beginning of a stream, in parts.
    func beginning(of subscription: Subscription, at now: Moment) -> StreamBeginning {
        let readable = { [role = subscription.role, base = mirror.base] (topic: String) in
            TopicPattern.rest(of: topic, below: base).map(role.mayRead) ?? false
        }
        let first = StreamText.retry + brokerEvent(at: now)
        if let events = mirror.events(after: subscription.after) {
            let missed = events.filter { readable($0.topic) }.map(\.text)
            let resume = mirror.isComplete ? [StreamText.event(named: "resume", Array("{}".utf8))] : []
            return StreamBeginning(first: first, readable: nil, history: nil, last: missed + resume)
        }
        let history = mirror.recent.filter { readable($0.topic) }
        return StreamBeginning(
            first: first, readable: readable, history: history, last: mirror.isComplete ? [ready] : [])
    }
}

/// The beginning of a stream: produced in parts, so that neither a large mirror nor a long history is in memory as text, once for each
/// stream.
///
/// The facts are those at the time of their part. Facts that change meanwhile follow again as events.
struct StreamBeginning {
    /// The number of facts in a part.
    static let factsPerPart = 64
    /// A part ends with the fact that exceeds this number of bytes of payload, or with the event that exceeds it in JSON.
    static let bytesPerPart = 16 << 10

    private var first: [UInt8]?
    /// Selects the topics of facts; nil without facts, and after the last one.
    private var readable: ((String) -> Bool)?
    private var lastTopic: String?
    /// The events of the history that were not sent yet, whose bytes all streams share; nil without a history, and after it.
    private var history: ArraySlice<MirrorEvent>?
    private var last: [[UInt8]]

    init(first: [UInt8], readable: ((String) -> Bool)?, history: [MirrorEvent]?, last: [[UInt8]]) {
        self.first = first
        self.readable = readable
        self.history = history?[...]
        self.last = last.reversed()
    }

    /// Returns the next part; nil after the last one.
    mutating func takeNext(from mirror: TopicMirror) -> [UInt8]? {
        if let part = first {
            first = nil
            return part
        }
        if let readable {
            let facts = mirror.facts(after: lastTopic, where: readable)
            lastTopic = facts.last?.topic
            if !facts.isEmpty { return StreamText.event(named: "mirror", Self.list(facts.map { $0.json[...] })) }
            self.readable = nil
        }
        if let events = history {
            var bytes = 0
            let part = events.prefix { event in
                defer { bytes += event.json.count }
                return bytes <= Self.bytesPerPart
            }
            history = part.endIndex < events.endIndex ? events[part.endIndex...] : nil
            // A history without an event begins the facts again, too.
            return StreamText.event(named: "history", Self.list(part.map(\.json)))
        }
        return last.popLast()
    }

    /// The messages, each a JSON object, as a JSON list.
    static func list(_ messages: [ArraySlice<UInt8>]) -> [UInt8] {
        Array("[".utf8) + Array(messages.joined(separator: [UInt8(ascii: ",")])) + Array("]".utf8)
    }
}

/// Random secrets.
enum Secrets {
    /// A random text of 256 bits, from the kernel's generator.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let word = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - word.utf8.count) + word
        }.joined()
    }

    /// Compares two texts in a time that depends on their lengths only.
    static func isEqual(_ one: String, _ other: String) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        return zip(one.utf8, other.utf8).reduce(into: UInt8(0)) { $0 |= $1.0 ^ $1.1 } == 0
    }
}
