import Bridge
import BrokerAccess
import HTTPServer
import PasswordHash
import Time

/// A request for the metrics of a bridge.
struct MetricsReading: Hashable {
    /// The argument `bridge`; nil: the only bridge.
    let bridge: String?
    let format: MetricsText.Format

    init(_ request: HTTPRequest) {
        bridge = request.query["bridge"]
        format = RequestHeaders.prefersOpenMetrics(request.headers["accept"]) ? .openMetrics : .prometheus
    }
}

/// `GET metrics`, for programs without a session such as Prometheus.
extension PageServer {
    static let metricsPath = "/metrics"

    /// Handles a request for metrics: checks who reads, then asks the bridge.
    mutating func metrics(_ request: HTTPRequest, at now: Moment) -> Action {
        let reading = MetricsReading(request)
        if let secret = secret(of: request), let session = sessions.session(secret, at: now.instant) {
            return read(reading, session.role, of: session.owner)
        }
        switch rules.authentication {
        case .users: break
        case .link where AccessRules.isFromThisHost(request.headers): return read(reading, .viewer, of: "")
        case .link:
            return .respond(
                .error(
                    403, "not_local", "Without users, metrics are for this host only: ask for 127.0.0.1 or localhost."))
        case .ingress: return .respond(Self.noSession)
        }
        guard let header = request.headers["authorization"], let credentials = BasicCredentials(header),
            credentials.user.utf8.count <= 64, credentials.password.utf8.count <= PasswordHash.longestPassword
        else {
            return .respond(Self.noCredentials)
        }
        let user = users.first { $0.name.utf8.elementsEqual(credentials.user.utf8) }
        let address = rules.address(peer: request.peer, headers: request.headers)
        // Before the verified passwords, so that a locked user learns nothing about a password.
        if let refusal = locked(credentials.user, at: address, now) { return .respond(refusal) }
        if let user, verified.contains(credentials) { return read(reading, user.role, of: user.name) }
        let login = began(credentials.user, user, by: request, at: now)
        return .checkReader(login, credentials, hash: user?.hash ?? Self.unknownUser, reading)
    }

    /// Handles a request on the Unix socket, whose permissions decide who may connect. It has metrics and nothing else.
    func handleOnMetricsSocket(_ request: HTTPRequest) -> Action {
        guard request.path == Self.metricsPath else {
            return .respond(.error(404, "not_found", "This socket has \(Self.metricsPath) and nothing else."))
        }
        guard ["GET", "HEAD"].contains(request.method) else { return .respond(.methodNotAllowed("GET, HEAD")) }
        return read(MetricsReading(request), .viewer, of: "")
    }

    /// Handles the result of the check of a reader's password.
    mutating func readerChecked(
        _ login: Login, _ credentials: BasicCredentials, _ isRight: Bool, _ reading: MetricsReading
    ) -> Action {
        guard isRight, login.isKnown else { return .respond(Self.noCredentials) }
        succeeded(login)
        verified.insert(credentials)
        return read(reading, login.role, of: login.user)
    }

    private static var noCredentials: HTTPResponse {
        var response = HTTPResponse.error(401, "wrong_login", "Send the name and the password of a user (Basic).")
        response.headers.append(("WWW-Authenticate", "Basic realm=\"jacquard2mqtt\", charset=\"UTF-8\""))
        return response
    }

    /// Selects the bridge; `owner` is whose share of the readers it belongs to.
    private func read(_ reading: MetricsReading, _ role: Role, of owner: String) -> Action {
        let bridges = mirror.bridges
        let names = bridges.keys.sorted().joined(separator: ", ")
        guard role.mayRead("bridge/\(reading.bridge ?? "x")/response/metrics") else {
            return .respond(.error(403, "not_permitted", "Your role may not read the metrics of a bridge."))
        }
        guard broker.isConnected else {
            return .respond(Self.unavailable("The broker is not connected: \(broker.text)"))
        }
        guard mirror.isComplete else {
            return .respond(Self.unavailable("The bridges are not known yet: the broker sends their topics."))
        }
        guard let name = reading.bridge ?? (bridges.count == 1 ? bridges.keys.first : nil) else {
            guard !bridges.isEmpty else { return .respond(Self.unavailable("The broker knows no bridge.")) }
            return .respond(
                .error(400, "invalid_argument", "There are several bridges; set bridge to one of \(names)."))
        }
        switch bridges[name] {
        case nil:
            return .respond(
                .error(404, "unknown_bridge", "There is no such bridge; there is \(names.isEmpty ? "none" : names)."))
        case "online" where mirror.isSilent(name):
            return .respond(Self.unavailable("The bridge \(name) is \(SilentBridge.state)."))
        case "online": return .metrics(bridge: name, reading.format, of: owner)
        default: return .respond(Self.unavailable("The bridge \(name) is offline."))
        }
    }

    private static func unavailable(_ text: String) -> HTTPResponse { .error(503, "unavailable", text) }

    /// The response with the outcome of a query.
    static func response(_ outcome: MetricsScrapes.Outcome, _ format: MetricsText.Format) -> HTTPResponse {
        switch outcome {
        case .failed(let text): return unavailable(text)
        case .text(let text):
            return HTTPResponse(
                status: 200,
                headers: [("Content-Type", format.contentType), ("Cache-Control", "no-store"), ("Vary", "Accept")],
                body: Array(text.text(format).utf8))
        }
    }

    /// The bridge of a result of `request/metrics`; nil for another topic.
    static func metricsBridge(_ rest: Substring) -> String? {
        let levels = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 4, levels[0] == "bridge", levels[2] == "response", levels[3] == "metrics" else {
            return nil
        }
        return String(levels[1])
    }
}

extension RequestHeaders {
    /// Whether an `Accept` header prefers OpenMetrics 1.0.0 to other texts. Source: RFC 9110, section 12.5.1.
    static func prefersOpenMetrics(_ header: String?) -> Bool {
        var (openMetrics, text) = (0.0, 0.0)
        for range in (header ?? "").utf8.split(separator: UInt8(ascii: ",")) {
            let parts = range.split(separator: UInt8(ascii: ";")).map { part in
                String(Substring(part)).lowercased().filter { $0 != " " && $0 != "\t" }
            }
            let parameters = parts.dropFirst()
            let quality = parameters.first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            let version = parameters.first { $0.hasPrefix("version=") }?.dropFirst("version=".count)
            switch parts.first {
            case "application/openmetrics-text" where version == nil || version == "1.0.0":
                openMetrics = max(openMetrics, quality)
            case "text/plain", "text/*", "*/*": text = max(text, quality)
            default: break
            }
        }
        return openMetrics > 0 && openMetrics >= text
    }
}

extension AccessRules {
    /// Whether a request is for this host by name, and not passed on by a proxy.
    ///
    /// A page of another site can make a browser send requests to 127.0.0.1, but then `Host` has the name of that site.
    static func isFromThisHost(_ headers: [String: String]) -> Bool {
        let forwarding = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"]
        guard !forwarding.contains(where: { headers[$0] != nil }), let host = headers["host"]?.lowercased() else {
            return false
        }
        let name = host.hasPrefix("[") ? host.prefix { $0 != "]" }.dropFirst() : host.prefix { $0 != ":" }
        return name == "localhost" || name == "127.0.0.1" || name == "::1"
    }
}
