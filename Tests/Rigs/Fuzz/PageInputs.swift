import Bridge
import HTTPServer
import JSON
import Time

/// The files of the page are no input.
enum PageFiles {
    static func response(for _: String, known _: String?) -> HTTPResponse? { nil }
}

/// Requests to the web page with any path, query, header and body, and messages of the broker: commands go only where the role may
/// publish, streams need a session, and no response or event can be split.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var input = Input(start, count)
    var scene = PageScene(input.pick([.users, .link, .ingress]), isBehindProxy: input.byte() & 1 == 1)
    while !input.isAtEnd {
        if input.byte() & 3 == 0 { scene.receive(&input) } else { scene.request(&input) }
    }
    return 0
}

/// A page's server with a session of each role.
private struct PageScene {
    private var page: PageServer
    private let now = PageServer.Moment(
        instant: Instant(sinceBoot: .seconds(3_600)), unixMilliseconds: 1_800_000_000_000)
    private var secrets: [String: Role] = [:]
    private var tokens: [String] = []
    private var number = 0
    private static let host = "127.0.0.1:8377"

    init(_ authentication: Authentication, isBehindProxy: Bool) {
        var rules = AccessRules()
        rules.authentication = authentication
        rules.isBehindProxy = isBehindProxy
        let users = Role.allCases.map { PageServer.User(name: $0.rawValue, hash: "x", role: $0) }
        page = PageServer(
            rules: rules, users: authentication == .users ? users : [], isEncrypted: false, port: 8377,
            base: "jacquard", boot: "b1", version: "1", hasMetrics: true, at: now)
        _ = page.brokerChanged(isConnected: true, "connected", at: now)
        _ = page.storedReceived()
        for role in Role.allCases {
            let login = PageServer.Login(
                user: role.rawValue, role: role, address: "::1", cookie: "jacquard2mqtt-8377", isKnown: true)
            var issued: [String] = []
            let response = page.loginChecked(
                login, true,
                random: {
                    issued.append("\(role.rawValue)-\(issued.count)")
                    return issued[issued.count - 1]
                }, at: now)
            require(response.status == 200 && issued.count == 2, "no session")
            secrets[issued[0]] = role
            tokens.append(issued[1])
        }
    }

    /// A request, of which some parts are those of a browser with a session.
    mutating func request(_ input: inout Input) {
        let cookie = input.pick(["viewer-0", "automation-0", "admin-0", nil])
        let token = input.pick(tokens)
        var headers = [
            "host": Self.host, "origin": "http://\(Self.host)", "content-type": "application/json", "x-token": token,
            "x-ingress-path": "/api/hassio_ingress/x",
        ]
        if let cookie { headers["cookie"] = "jacquard2mqtt-8377=\(cookie)" }
        let changed = [
            "cookie", "origin", "host", "x-token", "x-ingress-path", "x-forwarded-for", "x-forwarded-host",
            "last-event-id",
            "if-none-match", "content-type", "authorization", "accept",
        ]
        for _ in 0..<(input.byte() & 3) { headers[input.pick(changed)] = input.text() }
        let path =
            input.pick(["/publish", "/login", "/logout", "/events", "/history", "/session", "/metrics", nil])
            ?? input.text()
        let query = [input.pick(["tag", "touch", "bridge"]): input.text()]
        let body = input.byte() & 1 == 0 ? input.bytes() : Array(#"{"topic":"jacquard/"#.utf8) + input.bytes()
        let request = HTTPRequest(
            method: input.pick(["GET", "POST", "HEAD"]), path: path, query: query, headers: headers, body: body,
            peer: input.pick([AccessRules.supervisor, "::1"]))
        var next = number
        let action = page.handle(
            request, at: now,
            random: {
                next += 1
                return "new-\(next)"
            })
        number = next
        check(action, request)
    }

    private func check(_ action: PageServer.Action, _ request: HTTPRequest) {
        let sent = page.secret(of: request)
        let role = sent.flatMap { secrets[$0] }
        switch action {
        case .respond(let response), .sessionsChanged(let response): check(response)
        case .publish(let topic, let payload, let response):
            check(response)
            require(role != nil || sent?.hasPrefix("new-") == true, "a command without a session")
            let rest = TopicPattern.rest(of: topic, below: "jacquard")
            let writes = Role.allCases.contains { candidate in rest.map { candidate.mayWrite($0) } ?? false }
            require(writes && !topic.contains("+") && !topic.contains("#"), "a command to \(topic)")
            if let role { require(rest.map { role.mayWrite($0) } ?? false, "\(role) publishes to \(topic)") }
            require(payload.count <= PublishRequest.payloadLimit, "a payload of \(payload.count) bytes")
            require(request.headers["origin"] != nil, "a command without an origin")
        case .stream(let subscription):
            require(role != nil || sent?.hasPrefix("new-") == true, "a stream without a session")
            require(subscription.touch.allSatisfy { TopicPattern.isID($0) }, "the touch of \(subscription.touch)")
            checkEvents(subscription)
        case .streamHeaders: require(role != nil || sent?.hasPrefix("new-") == true, "a stream without a session")
        case .checkPassword(_, let password, _): require(password.utf8.count <= 512, "a long password")
        case .checkKey(_, let key): require(key.utf8.count <= 128, "a long key")
        case .checkReader(_, let credentials, _, _):
            require(credentials.password.utf8.count <= 512, "a long password")
            require(page.rules.authentication == .users, "a password without users")
        case .metrics(let bridge, _, _):
            require(page.mirror.bridges[bridge] == "online", "metrics of the bridge \(bridge)")
            require(role.map { $0 != .automation } ?? (page.rules.authentication == .link), "metrics without rights")
        }
    }

    private func check(_ response: HTTPResponse) {
        for (name, value) in response.headers {
            require(!value.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 }, "the header \(name) is split: \(value)")
        }
        require(response.body.isEmpty || JSONValue(parsing: response.body) != nil, "the body is no JSON")
    }

    /// Each event is a few lines with a name, of which `data` is JSON.
    private func checkEvents(_ subscription: PageServer.Subscription) {
        var beginning = page.beginning(of: subscription, at: now)
        while let part = beginning.takeNext(from: page.mirror) {
            for line in part.split(separator: 10) {
                let text = String(decoding: line, as: UTF8.self)
                let isKnown = ["id: ", "event: ", "data: ", "retry: "].contains { text.hasPrefix($0) }
                require(isKnown && !line.contains(13), "an event is split: \(text)")
                if text.hasPrefix("data: ") {
                    require(JSONValue(parsing: Array(line.dropFirst(6))) != nil, "no JSON: \(text)")
                }
            }
        }
    }

    /// A message of the broker.
    mutating func receive(_ input: inout Input) {
        let topic = input.pick(["jacquard/tag/", "jacquard/bridge/", "jacquard/", ""]) + input.text()
        let payload = input.bytes()
        guard let rest = TopicPattern.rest(of: topic, below: "jacquard"),
            let event = page.received(rest, topic: topic, payload: payload, at: now)
        else { return }
        let lines = event.text.split(separator: 10)
        require(lines.count == 2 && lines.allSatisfy { !$0.contains(13) }, "an event of \(lines.count) lines")
    }
}
