import HTTPServer
import JSON
import Time

@testable import Web

/// A page's server at a given time, with secrets that are numbered.
struct Scene {
    var page: PageServer
    var now = PageServer.Moment(instant: Instant(sinceBoot: .seconds(1000)), unixMilliseconds: 1_795_329_000_000)
    private var secrets = 0

    static let host = "127.0.0.1:8377"

    init(
        _ authentication: Authentication = .users, hasMetrics: Bool = false, hasStored: Bool = true,
        change: (inout AccessRules) -> Void = { _ in }
    ) {
        var rules = AccessRules()
        rules.authentication = authentication
        change(&rules)
        let users: [PageServer.User] = Role.allCases.map { role in
            PageServer.User(name: role.rawValue, hash: "hash of \(role.rawValue)", role: role)
        }
        page = PageServer(
            rules: rules, users: authentication == .users ? users : [], isEncrypted: false, port: 8377,
            base: "jacquard", boot: "b1", version: "0.1.0", hasMetrics: hasMetrics, at: now)
        _ = page.brokerChanged(isConnected: true, "connected", at: now)
        if hasStored { _ = page.storedReceived() }
    }

    /// Moves the time.
    mutating func wait(_ duration: Duration) {
        now = PageServer.Moment(
            instant: now.instant + duration,
            unixMilliseconds: now.unixMilliseconds + duration.components.seconds * 1000)
    }

    /// Handles a request.
    mutating func handle(_ request: HTTPRequest) -> PageServer.Action {
        var number = secrets
        let action = page.handle(request, at: now) {
            number += 1
            return "secret-\(number)"
        }
        secrets = number
        return action
    }

    /// Handles a login and the check of its password.
    mutating func login(_ name: String, password isRight: Bool = true, from peer: String = "127.0.0.1") -> HTTPResponse?
    {
        let body = JSONText.bytes(of: ["user": .string(name), "password": "x"] as JSONValue)
        switch handle(.post("/login", body: body, peer: peer)) {
        case .checkPassword(let login, _, _):
            var number = secrets
            defer { secrets = number }
            return page.loginChecked(
                login, isRight,
                random: {
                    number += 1; return "secret-\(number)"
                }, at: now)
        case .respond(let response): return response
        default: return nil
        }
    }

    /// Begins a session of a role.
    ///
    /// - Returns: the headers of its requests.
    mutating func session(_ role: Role) -> [String: String] {
        guard let response = login(role.rawValue), let cookie = response["Set-Cookie"],
            let token = JSONValue(parsing: response.body)?["token"]?.string
        else { return [:] }
        return ["cookie": String(cookie.prefix { $0 != ";" }), "x-token": token]
    }

    /// The status of a response to a request, and the code of its error.
    mutating func answer(_ request: HTTPRequest) -> String {
        switch handle(request) {
        case .respond(let response):
            let code = JSONValue(parsing: response.body)?["error"]?["code"]?.string
            return ["\(response.status)", code].compactMap { $0 }.joined(separator: " ")
        case .publish(let topic, _, let response): return "\(response.status) published \(topic)"
        case .stream: return "stream"
        case .streamHeaders: return "headers of a stream"
        case .checkPassword, .checkKey, .checkReader: return "check"
        case .metrics(let bridge, let format, _): return "\(format) of \(bridge)"
        case .sessionsChanged: return "end"
        }
    }
}

extension HTTPRequest {
    /// A `GET`.
    static func get(
        _ path: String, _ query: [String: String] = [:], _ headers: [String: String] = [:], peer: String = "127.0.0.1"
    ) -> HTTPRequest {
        let all = ["host": Scene.host].merging(headers) { $1 }
        return HTTPRequest(method: "GET", path: path, query: query, headers: all, peer: peer)
    }

    /// A `POST` as the page sends it. A header with an empty value is left out.
    static func post(
        _ path: String, body: [UInt8], _ headers: [String: String] = [:], peer: String = "127.0.0.1"
    ) -> HTTPRequest {
        let own = ["host": Scene.host, "origin": "http://\(Scene.host)", "content-type": "application/json"]
        let all = own.merging(headers) { $1 }.filter { !$0.value.isEmpty }
        return HTTPRequest(method: "POST", path: path, headers: all, body: body, peer: peer)
    }

    /// A command of the page.
    static func publish(
        _ topic: String, _ headers: [String: String], payload: String = ##"{"color":"#ff0000"}"##
    ) -> HTTPRequest {
        .post("/publish", body: Array(#"{"topic":"\#(topic)","payload":\#(payload)}"#.utf8), headers)
    }
}
