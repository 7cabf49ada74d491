import Bridge
import Foundation
import HTTPServer
import JSON
import Testing
import Time

@testable import Web

@Suite("Security of the page")
struct SecurityTests {
    private static let led = "jacquard/tag/003R/led/set"

    @Test("no session: nothing but the files and the way to log in")
    func withoutSession() {
        var scene = Scene()
        #expect(scene.answer(.get("/")) == "200")
        #expect(scene.answer(.get("/app.js")) == "200")
        #expect(scene.answer(.get("/session")) == "401 no_session")
        #expect(scene.answer(.get("/events")) == "401 no_session")
        #expect(scene.answer(.get("/history", ["tag": "003R"])) == "401 no_session")
        #expect(scene.answer(.publish(Self.led, [:])) == "401 no_session")
        #expect(scene.answer(.post("/logout", body: [])) == "401 no_session")
        #expect(scene.answer(.get("/events", [:], ["cookie": "jacquard2mqtt-8377=secret-1"])) == "401 no_session")
        #expect(scene.answer(.get("/../etc/passwd")) == "404 not_found")
        #expect(scene.answer(.get("/publish")) == "404 not_found")
    }

    @Test("a POST needs the session's token")
    func token() {
        var scene = Scene()
        let session = scene.session(.admin)
        #expect(scene.answer(.publish(Self.led, session)).hasPrefix("202"))
        #expect(scene.answer(.publish(Self.led, session.merging(["x-token": ""]) { $1 })) == "403 wrong_token")
        #expect(scene.answer(.publish(Self.led, session.merging(["x-token": "secret-1"]) { $1 })) == "403 wrong_token")
        let other = scene.session(.viewer)
        let mixed = session.merging(["x-token": other["x-token"] ?? ""]) { $1 }
        #expect(scene.answer(.publish(Self.led, mixed)) == "403 wrong_token")
    }

    @Test(
        "a POST needs the origin of the page",
        arguments: [
            "", "null", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:8378",
            "https://127.0.0.1:8377.evil.example",
            "ftp://127.0.0.1:8377", "http://127.0.0.1:8377/", "http://user@127.0.0.1:8377", "127.0.0.1:8377",
        ])
    func origin(value: String) {
        var scene = Scene()
        let session = scene.session(.admin)
        #expect(scene.answer(.publish(Self.led, session.merging(["origin": value]) { $1 })) == "403 wrong_origin")
        let login = Array(#"{"user":"admin","password":"x"}"#.utf8)
        #expect(scene.answer(.post("/login", body: login, ["origin": value])) == "403 wrong_origin")
    }

    @Test("trusted origins may send a POST, and X-Forwarded-Host counts only behind a proxy")
    func trustedOrigin() {
        var scene = Scene { $0.trustedOrigins = ["https://home.example"] }
        let session = scene.session(.admin).merging(["origin": "https://home.example"]) { $1 }
        #expect(scene.answer(.publish(Self.led, session)).hasPrefix("202"))
        let forwarded = ["origin": "https://page.example", "x-forwarded-host": "page.example"]
        #expect(scene.answer(.publish(Self.led, session.merging(forwarded) { $1 })) == "403 wrong_origin")
        var proxied = Scene { $0.isBehindProxy = true }
        let other = proxied.session(.admin).merging(forwarded) { $1 }
        #expect(proxied.answer(.publish(Self.led, other)).hasPrefix("202"))
    }

    @Test(
        "a form of another site is not accepted",
        arguments: ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
    func contentType(value: String) {
        var scene = Scene()
        let session = scene.session(.admin).merging(["content-type": value]) { $1 }
        #expect(scene.answer(.publish(Self.led, session)) == "415 unsupported_type")
    }

    @Test("GET and HEAD change nothing, and other methods are not allowed")
    func methods() {
        var scene = Scene()
        let session = scene.session(.admin)
        for method in ["GET", "HEAD"] {
            let request = HTTPRequest(
                method: method, path: "/publish", headers: session.merging(["host": Scene.host]) { $1 },
                body: Array(#"{"topic":"\#(Self.led)"}"#.utf8))
            #expect(scene.answer(request) == "404 not_found")
        }
        for method in ["PUT", "DELETE", "OPTIONS", "PATCH"] {
            #expect(
                scene.answer(
                    HTTPRequest(
                        method: method, path: "/publish", headers: session.merging(["host": Scene.host]) { $1 }))
                    == "405 method_not_allowed")
        }
    }

    @Test("HEAD of events has the status and the checks of GET, and begins no stream")
    func headOfEvents() {
        var scene = Scene()
        let session = scene.session(.viewer)
        func answer(_ query: [String: String], _ headers: [String: String]) -> String {
            scene.answer(
                HTTPRequest(
                    method: "HEAD", path: "/events", query: query, headers: headers.merging(["host": Scene.host]) { $1 }
                ))
        }
        #expect(answer([:], session) == "headers of a stream")
        #expect(answer(["touch": "+"], session) == "400 invalid_argument")
        #expect(answer([:], [:]) == "401 no_session")
    }

    private static let topics: [(topic: String, roles: Set<Role>)] = [
        ("jacquard/tag/003R/led/set", [.automation, .admin]),
        ("jacquard/tag/003R/haptic/set", [.automation, .admin]),
        ("jacquard/tag/003R/touch_mode/set", [.automation, .admin]),
        ("jacquard/tag/003R/rssi/get", [.automation, .admin]),
        ("jacquard/tag/003R/name/set", [.admin]),
        ("jacquard/tag/003R/connection/set", [.admin]),
        ("jacquard/bridge/attic/request/pair", [.admin]),
        ("jacquard/bridge/attic/request/forget", [.admin]),
        ("jacquard/tag/+/led/set", []),
        ("jacquard/tag/#", []),
        ("jacquard/tag//led/set", []),
        ("jacquard/tag/003R/led/set/more", []),
        ("jacquard/tag/003R/state", []),
        ("jacquard/tag/003R/availability", []),
        ("jacquard/bridge/attic/state", []),
        ("jacquard/bridge/attic/response/pair", []),
        ("jacquardx/tag/003R/led/set", []),
        ("jacquard", []),
        ("homeassistant/device/x/config", []),
        ("$SYS/broker/version", []),
        ("other/topic", []),
        ("", []),
    ]

    @Test("each role publishes to its topics only", arguments: topics)
    func roles(topic: String, roles: Set<Role>) {
        for role in Role.allCases {
            var scene = Scene()
            let session = scene.session(role)
            let expected = roles.contains(role) ? "202 published \(topic)" : "403 not_permitted"
            #expect(scene.answer(.publish(topic, session)) == expected, "\(role)")
        }
    }

    @Test("a role has no right that it lacks at the broker")
    func accessList() {
        let table = AccessTable()
        for role in Role.allCases {
            for filter in role.writable {
                let topic =
                    "jacquard/"
                    + filter.split(separator: "/").map { $0 == "+" ? "led" : String($0) }.joined(separator: "/")
                #expect(table.mayPublish(role.access, to: topic), "\(role) \(topic)")
            }
            for rest in [
                "tag/003R/gesture", "bridge/attic/state", "bridge/attic/health", "bridge/attic/log",
                "client/x/response",
            ] {
                #expect(
                    table.mayRead(role.access, from: "jacquard/" + rest) == role.mayRead(rest[...]), "\(role) \(rest)")
            }
        }
        #expect(Role.viewer.writable.isEmpty)
        // Seven commands and those of features, to tags and to groups.
        let ofFeatures = FeatureTable.commandLines.map { "\($0.name)/set" }
        for owner in ["tag", "group"] {
            let commands = Role.automation.writable.filter { $0.hasPrefix("\(owner)/+/") }
                .map { String($0.dropFirst(owner.count + 3)) }
            #expect(commands.count { !ofFeatures.contains($0) } == 7)
        }
        #expect(Role.automation.writable.allSatisfy { $0.hasPrefix("tag/+/") || $0.hasPrefix("group/+/") })
    }

    private static let bodies: [(body: String, answer: String)] = [
        ("", "400 invalid_json"), ("{", "400 invalid_json"), ("[]", "400 invalid_argument"),
        ("1", "400 invalid_argument"),
        (#"{"topic":1}"#, "400 invalid_argument"), (#"{"payload":{}}"#, "400 invalid_argument"),
        (#"{"topic":"jacquard/tag/003R/led/set","retain":true}"#, "400 retained_rejected"),
        (#"{"topic":"jacquard/tag/003R/led/set","retain":"yes"}"#, "400 invalid_argument"),
        (#"{"topic":"jacquard/tag/003R/led/set","qos":2}"#, "400 invalid_argument"),
        (#"{"topic":"jacquard/tag/003R/led/set","payload":[1]}"#, "400 invalid_argument"),
        (#"{"topic":"jacquard/tag/003R/led/set","payload":7}"#, "400 invalid_argument"),
        (#"{"topic":"jacquard/tag/00\u0000/led/set","payload":{}}"#, "400 invalid_argument"),
        (#"{"topic":"jacquard/tag/003R/battery/get"}"#, "202 published jacquard/tag/003R/battery/get"),
        (#"{"topic":"jacquard/tag/003R/led/set","payload":"flash"}"#, "202 published jacquard/tag/003R/led/set"),
        (
            #"{"topic":"jacquard/tag/003R/led/set","payload":"\#(String(repeating: "a", count: 4097))"}"#,
            "413 payload_too_large"
        ),
        (#"{"topic":"\#(String(repeating: "a", count: 600))"}"#, "400 invalid_argument"),
    ]

    @Test("the body of a command is checked", arguments: bodies)
    func body(body: String, answer: String) {
        var scene = Scene()
        let session = scene.session(.admin)
        #expect(scene.answer(.post("/publish", body: Array(body.utf8), session)) == answer)
    }

    @Test("the server sets the id of a command")
    func id() {
        var scene = Scene()
        let session = scene.session(.admin)
        guard
            case .publish(_, let payload, let response) = scene.handle(
                .publish(Self.led, session, payload: #"{"id":"mine","color":"red"}"#))
        else { return #expect(Bool(false), "not published") }
        #expect(String(decoding: payload, as: UTF8.self) == #"{"color":"red","id":"web-b1-1"}"#)
        #expect(JSONValue(parsing: response.body)?["id"]?.string == "web-b1-1")
    }

    @Test("twenty commands a second for each session")
    func rate() {
        var scene = Scene()
        let session = scene.session(.admin), other = scene.session(.automation)
        for _ in 1...20 { #expect(scene.answer(.publish(Self.led, session)).hasPrefix("202")) }
        #expect(scene.answer(.publish(Self.led, session)) == "429 too_many")
        #expect(scene.answer(.publish(Self.led, other)).hasPrefix("202"))
        scene.wait(.milliseconds(50))
        #expect(scene.answer(.publish(Self.led, session)).hasPrefix("202"))
        #expect(scene.answer(.publish(Self.led, session)) == "429 too_many")
        scene.wait(.seconds(5))
        for _ in 1...20 { #expect(scene.answer(.publish(Self.led, session)).hasPrefix("202")) }
        #expect(scene.answer(.publish(Self.led, session)) == "429 too_many")
    }

    @Test("five wrong passwords lock a user at an address for 30 seconds, also for the right one")
    func bruteForce() {
        var scene = Scene()
        for _ in 1...5 { #expect(scene.login("admin", password: false, from: "192.0.2.1")?.status == 401) }
        let locked = scene.login("admin", from: "192.0.2.1")
        #expect(locked?.status == 429)
        #expect(locked?["Retry-After"] == "31")
        scene.wait(.seconds(29))
        #expect(scene.login("admin", from: "192.0.2.1")?.status == 429)
        scene.wait(.seconds(2))
        #expect(scene.login("admin", from: "192.0.2.1")?.status == 200)
    }

    @Test("wrong passwords of one user lock neither another one at the same address, nor the user at another address")
    func otherUsers() {
        var scene = Scene()
        for name in ["viewer", "unknown", "other"] {
            for _ in 1...5 { #expect(scene.login(name, password: false, from: "192.0.2.1")?.status == 401) }
            #expect(scene.login(name, from: "192.0.2.1")?.status == 429)
        }
        #expect(scene.login("admin", from: "192.0.2.1")?.status == 200)
        #expect(scene.login("viewer", from: "192.0.2.2")?.status == 200)
    }

    @Test("wrong passwords from several addresses of an IPv6 network count together")
    func network() {
        var scene = Scene()
        for number in 1...5 {
            #expect(scene.login("admin", password: false, from: "2001:db8:0:1:\(number)::1")?.status == 401)
        }
        #expect(scene.login("admin", from: "2001:db8:0:1::")?.status == 429)
        #expect(scene.login("admin", from: "2001:db8:0:2::1")?.status == 200)
        for number in 1...5 {
            #expect(scene.login("admin", password: false, from: "::ffff:192.0.2.\(number)")?.status == 401)
        }
        #expect(scene.login("admin", from: "::ffff:192.0.2.6")?.status == 200)
    }

    @Test("passwords that are checked at the same time count")
    func parallelAttempts() {
        var scene = Scene()
        let body = Array(#"{"user":"admin","password":"x"}"#.utf8)
        let answers = (1...8).map { _ in scene.answer(.post("/login", body: body, peer: "192.0.2.1")) }
        #expect(answers == Array(repeating: "check", count: 5) + Array(repeating: "429 locked", count: 3))
    }

    @Test("wrong passwords of more than a minute ago don't count")
    func oldAttempts() {
        var scene = Scene()
        for _ in 1...20 {
            #expect(scene.login("admin", password: false)?.status == 401)
            scene.wait(.seconds(16))
        }
    }

    @Test("behind a proxy the address of the user counts, as the nearest proxy has added it")
    func forwardedAddress() {
        var scene = Scene { $0.isBehindProxy = true }
        func attempt(_ forwarded: String, _ scene: inout Scene) -> String {
            scene.answer(
                .post("/login", body: Array(#"{"user":"a","password":"x"}"#.utf8), ["x-forwarded-for": forwarded]))
        }
        for number in 1...5 { #expect(attempt("10.0.0.\(number), 192.0.2.1", &scene) == "check") }
        #expect(attempt("10.0.0.9, 192.0.2.1", &scene) == "429 locked")
        #expect(attempt("192.0.2.7", &scene) == "check")
        var direct = Scene()
        for number in 1...5 { #expect(attempt("10.0.0.\(number)", &direct) == "check") }
        #expect(attempt("10.0.0.6", &direct) == "429 locked")
    }

    @Test("X-Forwarded-For and X-Forwarded-Host of a peer outside of private networks don't count")
    func forwardedByStranger() {
        var scene = Scene { $0.isBehindProxy = true }
        func attempt(_ number: Int, _ peer: String, _ scene: inout Scene) -> String {
            let body = Array(#"{"user":"a","password":"x"}"#.utf8)
            return scene.answer(.post("/login", body: body, ["x-forwarded-for": "192.0.2.\(number)"], peer: peer))
        }
        for number in 1...5 { #expect(attempt(number, "198.51.100.1", &scene) == "check") }
        #expect(attempt(6, "198.51.100.1", &scene) == "429 locked")
        for number in 1...6 { #expect(attempt(number, "172.17.0.2", &scene) == "check") }
        let session = scene.session(.admin).merging(
            ["origin": "https://page.example", "x-forwarded-host": "page.example"]) { $1 }
        #expect(
            scene.answer(.post("/publish", body: Array("{}".utf8), session, peer: "198.51.100.1"))
                == "403 wrong_origin")
    }

    @Test("an unknown user takes as long as a known one, and gets no session")
    func unknownUser() {
        var scene = Scene()
        let body = Array(#"{"user":"nobody","password":"x"}"#.utf8)
        guard case .checkPassword(let login, _, let hash) = scene.handle(.post("/login", body: body)) else {
            return #expect(Bool(false), "no check")
        }
        #expect(hash == PageServer.unknownUser)
        #expect(scene.page.loginChecked(login, true, random: { "x" }, at: scene.now).status == 401)
    }

    @Test("the cookie is out of reach of scripts and other sites, and without a path")
    func cookie() throws {
        var scene = Scene()
        let answer = scene.login("admin")
        let response = try #require(answer)
        #expect(response["Set-Cookie"] == "jacquard2mqtt-8377=secret-1; HttpOnly; SameSite=Strict; Max-Age=43200")
        #expect(response["Cache-Control"] == "no-store")
    }

    @Test("a session ends with a logout, and after twelve hours without use")
    func sessionEnd() {
        var scene = Scene()
        let first = scene.session(.admin), second = scene.session(.admin)
        #expect(scene.answer(.post("/logout", body: Array("{}".utf8), first)) == "end")
        #expect(scene.answer(.get("/session", [:], first)) == "401 no_session")
        #expect(scene.answer(.get("/session", [:], second)) == "200")
        scene.wait(.seconds(12 * 3600 - 1))
        #expect(scene.answer(.get("/events", [:], second)) == "stream", "of a page that may be hidden")
        scene.wait(.seconds(1))
        #expect(scene.answer(.get("/session", [:], second)) == "401 no_session")
    }

    private static let cookies: [(headers: [String: String], peer: String, name: String)] = [
        (["host": "127.0.0.1:8377"], "127.0.0.1", "jacquard2mqtt-8377"),
        (["host": "[::1]:8377"], "::1", "jacquard2mqtt-8377"),
        (["host": "localhost"], "127.0.0.1", "jacquard2mqtt-8377"),
        (["host": "[::1]"], "::1", "jacquard2mqtt-8377"),
        (["host": "localhost:9001"], "127.0.0.1", "jacquard2mqtt-8377-9001"),
        (["host": "[::1]:9002"], "::1", "jacquard2mqtt-8377-9002"),
        (["host": "localhost:99999"], "127.0.0.1", "jacquard2mqtt-8377"),
        (["host": "localhost:+1"], "127.0.0.1", "jacquard2mqtt-8377"),
        (["host": "localhost:90 01"], "127.0.0.1", "jacquard2mqtt-8377"),
        ([:], "127.0.0.1", "jacquard2mqtt-8377"),
        // Only a proxy knows another address than `Host`.
        (["host": "localhost:8377", "x-forwarded-host": "home:8443"], "127.0.0.1", "jacquard2mqtt-8377-8443"),
        (["host": "localhost:8377", "x-forwarded-host": "home"], "127.0.0.1", "jacquard2mqtt-8377"),
        (["host": "192.0.2.7:9001", "x-forwarded-host": "home:8443"], "198.51.100.1", "jacquard2mqtt-8377-9001"),
    ]

    @Test("the cookie has the port of the page, and that of the browser if it is another one", arguments: cookies)
    func cookieName(headers: [String: String], peer: String, name: String) {
        let scene = Scene { $0.isBehindProxy = true }
        #expect(scene.page.cookieName(of: HTTPRequest(method: "GET", path: "/", headers: headers, peer: peer)) == name)
    }

    @Test("two addresses of a page in one browser have a session each")
    func twoPorts() {
        var scene = Scene()
        func login(_ port: Int) -> String {
            let host = "localhost:\(port)"
            let body = Array(#"{"user":"admin","password":"x"}"#.utf8)
            let request = HTTPRequest.post("/login", body: body, ["host": host, "origin": "http://\(host)"])
            guard case .checkPassword(let login, _, _) = scene.handle(request) else { return "" }
            let response = scene.page.loginChecked(login, true, random: { "secret of \(port)" }, at: scene.now)
            return response["Set-Cookie"].map { String($0.prefix { $0 != ";" }) } ?? ""
        }
        let both = [login(9001), login(9002)].joined(separator: "; ")
        #expect(both == "jacquard2mqtt-8377-9001=secret of 9001; jacquard2mqtt-8377-9002=secret of 9002")
        for port in [9001, 9002] {
            #expect(scene.answer(.get("/session", [:], ["host": "localhost:\(port)", "cookie": both])) == "200")
        }
        #expect(scene.answer(.get("/session", [:], ["host": "localhost:9003", "cookie": both])) == "401 no_session")
    }

    @Test("there are at most 256 sessions, and a user with many loses his own")
    func sessionLimit() {
        var scene = Scene()
        let admin = scene.session(.admin), first = scene.session(.viewer)
        for _ in 1...300 {
            scene.wait(.milliseconds(1))
            _ = scene.session(.viewer)
        }
        #expect(scene.page.sessions.count == 256)
        #expect(scene.answer(.get("/session", [:], first)) == "401 no_session")
        #expect(scene.answer(.get("/session", [:], admin)) == "200")
        scene.wait(Sessions.lifetime)
        _ = scene.session(.viewer)
        #expect(scene.page.sessions.count == 1)
    }

    @Test("with ingress, sessions are shared out among the users of Home Assistant")
    func ingressShares() {
        var scene = Scene(.ingress)
        func login(_ user: String, _ scene: inout Scene) -> String {
            let headers = ["x-ingress-path": "/api/hassio_ingress/x", "x-remote-user-id": user]
            guard
                case .respond(let response) = scene.handle(
                    .post("/login", body: Array("{}".utf8), headers, peer: "172.30.32.2"))
            else { return "" }
            return response["Set-Cookie"].map { String($0.prefix { $0 != ";" }) } ?? ""
        }
        let cookie = login("ada", &scene)
        for _ in 1...300 { _ = login("bob", &scene) }
        let headers = ["x-ingress-path": "/api/hassio_ingress/x", "cookie": cookie]
        #expect(scene.answer(.get("/session", [:], headers, peer: "172.30.32.2")) == "200")
    }

    @Test(
        "wrong passwords are remembered for at most 1,024 users and addresses, and an address with many loses its own")
    func attemptLimit() {
        var attempts = LoginAttempts()
        let start = Instant(sinceBoot: .seconds(1))
        for _ in 1...5 { attempts.began("admin", at: "first", start) }
        for number in 1...3000 { attempts.began("\(number)", at: "second", start + .milliseconds(number)) }
        #expect(attempts.count == 1024)
        #expect(attempts.lockTime(of: "admin", at: "first", start + .seconds(5)) != nil)
    }

    @Test("passwords are checked one at a time, and an address with many that wait loses its own")
    func loginQueue() {
        var queue = LoginQueue<String>()
        #expect(queue.begin() == nil)
        #expect(queue.add("owner", of: "192.0.2.1") == nil)
        for number in 1...7 { #expect(queue.add("\(number)", of: "2001:db8::\(number)") == nil) }
        #expect(queue.add("8", of: "2001:db8::8") == "1")
        #expect(queue.add("friend", of: "192.0.2.2") == "2")
        #expect(queue.begin() == "owner")
        #expect(queue.begin() == nil)
        queue.ended()
        #expect(queue.begin() == "3")
    }

    @Test(
        "a request for another name than the page's is rejected without encryption, and counts for nobody",
        arguments: [Authentication.users, .link])
    func rebinding(authentication: Authentication) {
        var scene = Scene(authentication) { $0.trustedOrigins = ["https://home.example:8443"] }
        for host in [
            "evil.example", "evil.example:8377", "127.0.0.1.evil.example", "localhost.evil.example", "1.2.3.4x", "",
        ] {
            let evil = ["host": host, "origin": "http://\(host)"]
            #expect(scene.answer(.get("/", [:], evil)) == "403 wrong_host", "\(host)")
            for _ in 1...6 {
                let body = Array(#"{"user":"admin","password":"x","key":"k"}"#.utf8)
                #expect(scene.answer(.post("/login", body: body, evil)) == "403 wrong_host")
            }
        }
        for host in [
            "127.0.0.1:8377", "192.0.2.7", "[::1]:8377", "localhost", "LOCALHOST:80", "page.localhost", "home.example",
            "home.example:8443",
        ] {
            #expect(scene.answer(.get("/", [:], ["host": host])) == "200", "\(host)")
        }
        let body = Array(#"{"user":"admin","password":"x","key":"k"}"#.utf8)
        #expect(scene.answer(.post("/login", body: body)) == "check")
    }

    @Test("behind a proxy the page has the proxy's names")
    func proxiedHost() {
        var scene = Scene { $0.isBehindProxy = true }
        #expect(scene.answer(.get("/", [:], ["host": "page.example"])) == "200")
    }

    private static let ingressPaths = [
        "", "relative", "/../x", "//x", "/a/", "/a b", "/a\u{301}", "/a?b", "/<script>",
        "/" + String(repeating: "a", count: 300),
    ]

    @Test("with ingress only the supervisor may connect, with a valid path", arguments: ingressPaths)
    func ingress(path: String) {
        var scene = Scene(.ingress)
        let good = ["x-ingress-path": "/api/hassio_ingress/abc-DEF_123"]
        #expect(scene.answer(.get("/", [:], good, peer: "172.30.32.2")) == "200")
        #expect(scene.answer(.get("/", [:], good, peer: "127.0.0.1")) == "403 not_ingress")
        #expect(scene.answer(.get("/", [:], good, peer: "172.30.32.20")) == "403 not_ingress")
        #expect(
            scene.answer(.get("/", [:], path.isEmpty ? [:] : ["x-ingress-path": path], peer: "172.30.32.2"))
                == "403 not_ingress")
        #expect(scene.answer(.post("/login", body: Array("{}".utf8), good, peer: "172.30.32.2")) == "200")
        #expect(scene.answer(.post("/login", body: Array("{}".utf8), good, peer: "192.0.2.1")) == "403 not_ingress")
    }

    @Test("every response has the security headers")
    func headers() {
        let response = HTTPResponse.json(200, [:]).secured(isFramed: false)
        let policy = response["Content-Security-Policy"] ?? ""
        #expect(
            policy.hasPrefix(
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "))
        #expect(policy.hasSuffix("base-uri 'none'; form-action 'self'; frame-ancestors 'none'"))
        #expect(
            HTTPResponse.json(200, [:]).secured(isFramed: true)["Content-Security-Policy"]?.hasSuffix(
                "frame-ancestors 'self'") == true)
        #expect(response["X-Content-Type-Options"] == "nosniff")
        #expect(response["Referrer-Policy"] == "no-referrer")
    }

    /// The body of the response to a path of the page.
    private func served(_ path: String) throws -> String {
        String(decoding: try #require(PageFiles.response(for: path, known: nil)).body, as: UTF8.self)
    }

    @Test("every file of the page is compiled in as it is, but for its imports")
    func compiled() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/Web/Web/Page")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(PageFiles.all.keys) == Set(names.map { $0 == "index.html" ? "/" : "/" + $0 }))
        for name in names {
            let path = name == "index.html" ? "/" : "/" + name
            let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            let own = text.split(separator: "\n", omittingEmptySubsequences: false).drop { !$0.hasPrefix("import ") }
                .drop { $0.hasPrefix("import ") }
            #expect(try served(path).hasSuffix(own.joined(separator: "\n")), "\(name)")
            if !name.hasSuffix(".js") { #expect(try served(path) == text) }
            #expect(PageFiles.all[path]?.type != "application/octet-stream", "\(name)")
        }
    }

    @Test("a script comes with all that it imports, each once, so the browser asks for one file")
    func joined() throws {
        let page = try served("/app.js"), worker = try served("/shared.js")
        for name in PageFiles.all.keys where name.hasSuffix(".js") && name != "/app.js" && name != "/shared.js" {
            let last = try #require(try served(name).split(separator: "\n").last { $0.hasPrefix("export ") })
            #expect(page.components(separatedBy: last.dropFirst("export ".count)).count == 2, "\(name)")
        }
        #expect(worker.contains("\nclass Hub {") && !worker.contains("class Model"))
        for script in [page, worker] {
            #expect(!script.contains("\nimport ") && !script.contains("\nexport "))
        }
    }

    @Test("the page loads nothing from elsewhere, has no inline script, and uses relative addresses only")
    func files() throws {
        for path in PageFiles.all.keys {
            let text = try served(path)
            for word in [
                "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "//cdn",
                "https://",
            ] {
                #expect(!text.contains(word), "\(path) contains \(word)")
            }
            let links = text.matches(of: #/(?:href|src|from|fetch\(|EventSource\(|url\()\s*=?\s*["'`]([^"'`]*)/#).map {
                String($0.1)
            }
            for link in links {
                #expect(!link.hasPrefix("/") && !link.contains("://"), "\(path) has the address \(link)")
            }
            #expect(!text.contains(" style=\"") && !text.contains(" onclick=\""), "\(path)")
        }
    }

    @Test("wrong keys of one-time links are slowed, and never lock the right one")
    func wrongKeys() {
        var scene = Scene(.link)
        let body = Array(#"{"key":"k"}"#.utf8)
        func answer(_ isRight: Bool, _ scene: inout Scene) -> Int {
            guard case .checkKey(let login, _) = scene.handle(.post("/login", body: body)) else { return 0 }
            return scene.page.loginChecked(login, isRight, random: { "x" }, at: scene.now).status
        }
        #expect((1...7).map { _ in answer(false, &scene) } == [401, 401, 401, 401, 401, 429, 429])
        #expect(answer(true, &scene) == 200)
    }

    @Test("a one-time link works once, and an old link does not")
    func link() {
        var scene = Scene(.link)
        #expect(scene.answer(.post("/login", body: Array("{}".utf8))) == "400 invalid_argument")
        let body = Array(#"{"key":"k"}"#.utf8)
        guard case .checkKey(let login, "k") = scene.handle(.post("/login", body: body)) else {
            return #expect(Bool(false), "no check")
        }
        #expect(scene.page.loginChecked(login, false, random: { "x" }, at: scene.now).status == 401)
        #expect(scene.page.loginChecked(login, true, random: { "x" }, at: scene.now).status == 200)
    }
}
