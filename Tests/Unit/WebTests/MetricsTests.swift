import Bridge
import JSON
import TestSupport
import Testing
import Time

@testable import HTTPServer
@testable import Web

@Suite("Metrics of the page")
struct MetricsTests {
    /// A page with metrics, and bridges that are online.
    private static func scene(_ authentication: Authentication = .users, bridges: [String] = ["attic"]) -> Scene {
        var scene = Scene(authentication, hasMetrics: true)
        for bridge in bridges {
            _ = scene.page.mirror.received(topic: "jacquard/bridge/\(bridge)/state", payload: Array("online".utf8))
        }
        return scene
    }

    /// The header with `name:password` in base64.
    private static let viewer = ["authorization": "Basic dmlld2VyOnJpZ2h0"]
    private static let automation = ["authorization": "Basic YXV0b21hdGlvbjpyaWdodA=="]
    private static let stranger = ["authorization": "Basic c3RyYW5nZXI6eA=="]

    /// The answer to a request whose password is checked.
    private func answer(
        _ scene: inout Scene, _ headers: [String: String], password isRight: Bool = true, peer: String = "127.0.0.1"
    ) -> String {
        let request = HTTPRequest.get("/metrics", [:], headers, peer: peer)
        guard case .checkReader(let login, let credentials, _, let reading) = scene.handle(request) else {
            return scene.answer(request)
        }
        switch scene.page.readerChecked(login, credentials, isRight, reading) {
        case .metrics(let bridge, let format, _): return "checked, \(format) of \(bridge)"
        case .respond(let response): return "checked, \(response.status)"
        default: return "checked, another action"
        }
    }

    @Test("do not exist unless they are switched on")
    func off() {
        var scene = Scene(.link)
        #expect(scene.answer(.get("/metrics")) == "404 not_found")
        #expect(scene.answer(.post("/metrics", body: [])) == "404 not_found")
    }

    @Test("need a user's name and password, or a session")
    func users() {
        var scene = Self.scene()
        guard case .respond(let refusal) = scene.handle(.get("/metrics")) else {
            Issue.record("no answer")
            return
        }
        #expect(refusal.status == 401)
        #expect(refusal["WWW-Authenticate"] == #"Basic realm="jacquard2mqtt", charset="UTF-8""#)
        #expect(answer(&scene, Self.viewer, password: false) == "checked, 401")
        #expect(answer(&scene, Self.stranger) == "checked, 401")
        #expect(answer(&scene, Self.viewer) == "checked, prometheus of attic")
        #expect(scene.answer(.get("/metrics", [:], scene.session(.admin))) == "prometheus of attic")
        for wrong in [
            "", "Basic", "Basic ", "Basic a", "Bearer dmlld2VyOnJpZ2h0", "Basic dmlld2Vy", "Basic dmlld2VyOv8=",
        ] {
            #expect(scene.answer(.get("/metrics", [:], ["authorization": wrong])) == "401 wrong_login", "\(wrong)")
        }
    }

    @Test("of a bridge are unknown until the broker has sent its stored messages")
    func notKnownYet() {
        var scene = Scene(.link, hasMetrics: true, hasStored: false)
        #expect(scene.answer(.get("/metrics")) == "503 unavailable")
        #expect(scene.answer(.get("/metrics", ["bridge": "attic"])) == "503 unavailable")
        _ = scene.page.storedReceived()
        #expect(scene.answer(.get("/metrics", ["bridge": "attic"])) == "404 unknown_bridge")
    }

    @Test("are not for a role that may not read bridges")
    func role() {
        var scene = Self.scene()
        #expect(answer(&scene, Self.automation) == "checked, 403")
        #expect(scene.answer(.get("/metrics", [:], scene.session(.automation))) == "403 not_permitted")
    }

    @Test("check a right password once, and a wrong one each time")
    func verified() {
        var scene = Self.scene()
        #expect(answer(&scene, Self.viewer) == "checked, prometheus of attic")
        #expect(answer(&scene, Self.viewer) == "prometheus of attic")
        let wrong = ["authorization": "Basic dmlld2VyOndyb25n"]
        #expect(answer(&scene, wrong, password: false) == "checked, 401")
        #expect(answer(&scene, wrong, password: false) == "checked, 401")
    }

    @Test("lock a user at an address after five wrong passwords, also for the right one and for the login")
    func lock() {
        var scene = Self.scene()
        #expect(answer(&scene, Self.viewer) == "checked, prometheus of attic")
        for _ in 0..<5 { #expect(answer(&scene, Self.stranger, password: false) == "checked, 401") }
        #expect(answer(&scene, Self.viewer) == "prometheus of attic")
        let wrong = ["authorization": "Basic dmlld2VyOndyb25n"]
        for _ in 0..<5 { #expect(answer(&scene, wrong, password: false) == "checked, 401") }
        #expect(answer(&scene, Self.viewer) == "429 locked")
        #expect(scene.login("viewer")?.status == 429)
        #expect(answer(&scene, Self.viewer, peer: "192.0.2.1") == "prometheus of attic")
        scene.wait(LoginAttempts.lock)
        #expect(answer(&scene, Self.viewer) == "prometheus of attic")
    }

    @Test("are read by at most eight programs at a time, and one with many readers loses its own")
    func readers() async throws {
        try await onLoop {
            var readers = MetricsReaders()
            func add(_ owner: String) -> (added: MetricsScrapes.Reader, lost: MetricsScrapes.Reader?) {
                readers.add(.init(reply: HTTPReply(), format: .prometheus, owner: owner))
            }
            #expect(add("prometheus").lost == nil)
            for _ in 1...7 { #expect(add("viewer").lost == nil) }
            #expect(add("viewer").lost == 2)
            #expect(readers.remove(2) != nil)
            #expect(readers.remove(1)?.owner == "prometheus")
            #expect(add("viewer").lost == nil)
        }
    }

    @Test("begin no session, and the credentials are good for nothing else")
    func nothingElse() {
        var scene = Self.scene()
        #expect(answer(&scene, Self.viewer) == "checked, prometheus of attic")
        #expect(scene.page.sessions.count == 0)
        #expect(scene.answer(.get("/events", [:], Self.viewer)) == "401 no_session")
        #expect(scene.answer(.get("/history", ["tag": "0001"], Self.viewer)) == "401 no_session")
        #expect(scene.answer(.publish("jacquard/tag/003R/led/set", Self.viewer)) == "401 no_session")
    }

    @Test(
        "are all that the Unix socket has, for everyone who may connect",
        arguments: [Authentication.users, .link, .ingress])
    func socket(authentication: Authentication) {
        var scene = Self.scene(authentication)
        func answer(_ request: HTTPRequest) -> String {
            switch scene.page.handleOnMetricsSocket(request) {
            case .metrics(let bridge, let format, _): "\(format) of \(bridge)"
            case .respond(let response): "\(response.status)"
            default: "another action"
            }
        }
        #expect(answer(.get("/metrics", peer: "")) == "prometheus of attic")
        let header = ["accept": "application/openmetrics-text", "x-forwarded-for": "192.0.2.1", "host": "x"]
        #expect(answer(.get("/metrics", ["bridge": "attic"], header, peer: "")) == "openMetrics of attic")
        #expect(answer(.get("/metrics", ["bridge": "hall"], peer: "")) == "404")
        #expect(answer(.post("/metrics", body: [], peer: "")) == "405")
        let session = scene.session(.admin)
        for path in ["/", "/session", "/events", "/history", "/app.js", "/metrics/"] {
            #expect(answer(.get(path, [:], session, peer: "")) == "404", "\(path)")
        }
        #expect(answer(.publish("jacquard/tag/003R/led/set", session)) == "404")
    }

    @Test(
        "without users are for programs of this host",
        arguments: [
            (["host": "127.0.0.1:8377"], "prometheus of attic"), (["host": "localhost:9000"], "prometheus of attic"),
            (["host": "LOCALHOST"], "prometheus of attic"), (["host": "[::1]:8377"], "prometheus of attic"),
            (["host": "evil.example:8377"], "403 wrong_host"), (["host": "127.0.0.1.evil.example"], "403 wrong_host"),
            (["host": "192.0.2.7"], "403 not_local"), (["host": "[::1"], "prometheus of attic"),
            (["x-forwarded-for": "192.0.2.1"], "403 not_local"), (["forwarded": "for=192.0.2.1"], "403 not_local"),
            (["via": "1.1 proxy"], "403 not_local"), (["x-real-ip": "192.0.2.1"], "403 not_local"),
        ])
    func thisHost(headers: [String: String], answer: String) {
        var scene = Self.scene(.link)
        #expect(scene.answer(.get("/metrics", [:], headers)) == answer)
    }

    @Test("select the bridge")
    func bridges() {
        var scene = Self.scene(.link, bridges: ["attic", "hall"])
        #expect(scene.answer(.get("/metrics", ["bridge": "hall"])) == "prometheus of hall")
        #expect(scene.answer(.get("/metrics")) == "400 invalid_argument")
        #expect(scene.answer(.get("/metrics", ["bridge": "cellar"])) == "404 unknown_bridge")
        #expect(scene.answer(.get("/metrics", ["bridge": "+"])) == "404 unknown_bridge")
        _ = scene.page.mirror.received(topic: "jacquard/bridge/hall/state", payload: Array("offline".utf8))
        #expect(scene.answer(.get("/metrics", ["bridge": "hall"])) == "503 unavailable")
        var empty = Self.scene(.link, bridges: [])
        #expect(empty.answer(.get("/metrics")) == "503 unavailable")
        _ = scene.page.brokerChanged(isConnected: false, "away", at: scene.now)
        #expect(scene.answer(.get("/metrics", ["bridge": "attic"])) == "503 unavailable")
    }

    @Test("allow GET and HEAD")
    func methods() {
        var scene = Self.scene(.link)
        let head = HTTPRequest(method: "HEAD", path: "/metrics", headers: ["host": Scene.host])
        #expect(scene.answer(head) == "prometheus of attic")
        guard case .respond(let response) = scene.handle(.post("/metrics", body: [])) else {
            Issue.record("no answer")
            return
        }
        #expect(response.status == 405)
        #expect(response["Allow"] == "GET, HEAD")
    }

    @Test(
        "choose the format by Accept",
        arguments: [
            (nil, false), ("*/*", false), ("text/plain;version=0.0.4", false), ("", false), ("a;;;q=", false),
            ("application/openmetrics-text", true),
            ("application/openmetrics-text; version=1.0.0; charset=utf-8", true),
            ("application/openmetrics-text;version=2.0.0", false), ("application/openmetrics-text;q=0", false),
            ("application/openmetrics-text;q=nan", false), ("application/openmetrics-text;q=0.1,text/plain", false),
            // Prometheus 2.42.
            (
                "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                    + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", true
            ),
        ] as [(String?, Bool)])
    func format(accept: String?, isOpenMetrics: Bool) {
        #expect(RequestHeaders.prefersOpenMetrics(accept) == isOpenMetrics)
        var scene = Self.scene(.link)
        let headers = accept.map { ["accept": $0] } ?? [:]
        #expect(
            scene.answer(.get("/metrics", [:], headers))
                == (isOpenMetrics ? "openMetrics of attic" : "prometheus of attic"))
    }

    @Test(
        "decode base64 and nothing else",
        arguments: [
            ("", [] as [UInt8]?), ("AA==", [0]), ("AAE=", [0, 1]), ("AAEC", [0, 1, 2]), ("+/+/", [251, 255, 191]),
            ("A", nil), ("AA", nil), ("AAA", nil), ("AA=A", nil), ("A===", nil), ("====", nil), ("A-_A", nil),
        ])
    func base64(text: String, bytes: [UInt8]?) {
        #expect(BasicCredentials.decoded(Array(text.utf8)) == bytes)
    }

    @Test("split name and password at the first colon")
    func credentials() {
        // ada:a:b
        let credentials = BasicCredentials("basic  YWRhOmE6Yg==")
        #expect(credentials?.user == "ada" && credentials?.password == "a:b")
    }
}
