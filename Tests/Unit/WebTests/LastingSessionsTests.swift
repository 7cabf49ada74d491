import Configuration
import HTTPServer
import JSON
import TestSupport
import Testing
import Time

@testable import Web

@Suite("Lasting sessions")
struct LastingSessionsTests {
    /// Opens a one-time link, and returns the headers of the session's requests.
    private static func open(_ key: String, _ scene: inout Scene, secret: String) -> [String: String] {
        let body = JSONText.bytes(of: ["key": .string(key)] as JSONValue)
        guard case .checkKey(let login, let checked) = scene.handle(.post("/login", body: body)), checked == key else {
            return [:]
        }
        let response = scene.page.loginChecked(login, true, random: { secret }, at: scene.now)
        guard let cookie = response["Set-Cookie"], let token = JSONValue(parsing: response.body)?["token"]?.string
        else {
            return [:]
        }
        return ["cookie": String(cookie.prefix { $0 != ";" }), "x-token": token]
    }

    private static func lifetime(_ headers: [String: String], _ scene: inout Scene) -> String? {
        guard case .respond(let response) = scene.handle(.get("/session", [:], headers)) else { return nil }
        return response["Set-Cookie"]?.split(separator: " ").last { $0.hasPrefix("Max-Age=") }.map(String.init)
    }

    private static func list(_ headers: [String: String], _ scene: inout Scene) -> [JSONValue] {
        guard case .respond(let response) = scene.handle(.get("/sessions", [:], headers)) else { return [] }
        return JSONValue(parsing: response.body)?["sessions"]?.elements ?? []
    }

    @Test("a session that is used and shown is prolonged, with its cookie, for thirty days")
    func prolonged() {
        var scene = Scene()
        let session = scene.session(.viewer)
        for _ in 1...59 {
            scene.wait(.seconds(12 * 3600 - 1))
            #expect(Self.lifetime(session, &scene) == "Max-Age=43200")
        }
        scene.wait(.seconds(6 * 3600))
        #expect(Self.lifetime(session, &scene) == "Max-Age=21659")
        scene.wait(.seconds(21_659))
        #expect(scene.answer(.get("/session", [:], session)) == "401 no_session")
    }

    @Test("a command prolongs a session")
    func command() {
        var scene = Scene()
        let session = scene.session(.admin)
        for _ in 1...3 {
            scene.wait(.seconds(11 * 3600))
            #expect(scene.answer(.publish("jacquard/tag/003R/led/set", session)).hasPrefix("202"))
        }
    }

    @Test("a link for a device begins a session that lasts until it was unused for 90 days")
    func device() {
        var scene = Scene(.link)
        let hall = Self.open(LinkKey.make(device: "the hall"), &scene, secret: "of the hall")
        scene.wait(.seconds(1))
        let browser = Self.open(LinkKey.make(device: nil), &scene, secret: "of a browser")
        #expect(Self.list(hall, &scene).compactMap { $0["device"] } == ["the hall", .null])
        for _ in 1...3 {
            scene.wait(.seconds(89 * 86_400))
            #expect(Self.lifetime(hall, &scene) == "Max-Age=7776000")
            #expect(scene.answer(.get("/session", [:], browser)) == "401 no_session")
        }
        scene.wait(.seconds(90 * 86_400))
        #expect(scene.answer(.get("/session", [:], hall)) == "401 no_session")
    }

    @Test("a device goes on after a restart of the page, with another token, and without its secret in the file")
    func restart() throws {
        var scene = Scene(.link)
        let hall = Self.open(LinkKey.make(device: "hall"), &scene, secret: "of the hall")
        let changed = scene.page.sessions.takeChangedDevices()
        let stored = try #require(changed)
        #expect(stored.map(\.name) == ["hall"] && !stored[0].hash.contains("hall"))
        let name = try #require(hall["cookie"]).prefix { $0 != "=" }
        #expect(scene.answer(.get("/session", [:], ["cookie": "\(name)=of the hall"])) == "200")
        #expect(scene.answer(.get("/session", [:], ["cookie": "\(name)=\(stored[0].hash)"])) == "401 no_session")
        let folder = try TemporaryFolder()
        let file = try #require(StateFiles(environment: [:], runtime: folder.path))
        #expect(file.write(stored))
        #expect(file.readDevices() == stored)
        let other = StateFiles(environment: ["STATE_DIRECTORY": "/nowhere:/other"], runtime: folder.path)
        #expect(other?.folder == "/nowhere" && other?.readDevices() == [])
        #expect(StateFiles(environment: [:], runtime: nil) == nil)
        var next = Scene(.link)
        next.wait(.seconds(40 * 86_400))
        next.page.sessions.restore(stored, token: { "another" }, at: next.now)
        #expect(next.page.sessions.takeChangedDevices() == nil)
        #expect(Self.lifetime(hall, &next) == "Max-Age=7776000")
        #expect(next.answer(.publish("jacquard/tag/003R/led/set", hall)) == "403 wrong_token")
        #expect(
            next.answer(.publish("jacquard/tag/003R/led/set", hall.merging(["x-token": "another"]) { $1 })).hasPrefix(
                "202"))
        var late = Scene(.link)
        late.wait(.seconds(90 * 86_400))
        late.page.sessions.restore(stored, token: { "another" }, at: late.now)
        #expect(late.page.sessions.count == 0)
    }

    @Test("devices are stored when one comes or goes, and when one was used an hour later")
    func changes() {
        var scene = Scene(.link)
        #expect(scene.page.sessions.takeChangedDevices() == nil)
        let hall = Self.open(LinkKey.make(device: "hall"), &scene, secret: "of the hall")
        #expect(scene.page.sessions.takeChangedDevices()?.count == 1)
        scene.wait(.seconds(3599))
        _ = Self.lifetime(hall, &scene)
        #expect(scene.page.sessions.takeChangedDevices() == nil)
        scene.wait(.seconds(1))
        _ = Self.lifetime(hall, &scene)
        #expect(scene.page.sessions.takeChangedDevices()?.count == 1)
        #expect(scene.answer(.post("/logout", body: Array("{}".utf8), hall)) == "end")
        #expect(scene.page.sessions.takeChangedDevices() == [])
    }

    @Test("a new link for a device ends its earlier session, and browsers take no device's place")
    func places() {
        var scene = Scene(.link)
        let first = Self.open(LinkKey.make(device: "hall"), &scene, secret: "first")
        let second = Self.open(LinkKey.make(device: "hall"), &scene, secret: "second")
        #expect(scene.answer(.get("/session", [:], first)) == "401 no_session")
        for number in 1...300 { _ = Self.open(LinkKey.make(device: nil), &scene, secret: "\(number)") }
        #expect(scene.answer(.get("/session", [:], second)) == "200")
    }

    @Test("an administrator sees all sessions and ends one by its id; nobody else does")
    func ending() throws {
        var scene = Scene()
        let admin = scene.session(.admin)
        scene.wait(.seconds(60))
        let viewer = scene.session(.viewer)
        let sessions = Self.list(admin, &scene)
        #expect(sessions.map { $0["user"]?.string } == ["admin", "viewer"])
        #expect(sessions.map { $0["is_own"]?.flag } == [true, false])
        let ids = sessions.compactMap { $0["id"]?.string }
        #expect(!ids.contains { admin["cookie"]?.contains($0) == true || viewer["cookie"]?.contains($0) == true })
        func end(_ body: String, _ headers: [String: String]) -> String {
            scene.answer(.post("/sessions", body: Array(body.utf8), headers))
        }
        #expect(scene.answer(.get("/sessions", [:], viewer)) == "403 not_permitted")
        #expect(end(#"{"end":"\#(ids[0])"}"#, viewer) == "403 not_permitted")
        for body in ["", "[]", "{}", #"{"end":1}"#, #"{"end":"\#(ids[1])","all":true}"#] {
            #expect(end(body, admin) == "400 invalid_argument")
        }
        #expect(end(#"{"end":"\#(ids[1])"}"#, admin) == "end")
        #expect(end(#"{"end":"\#(ids[1])"}"#, admin) == "404 unknown_session")
        #expect(scene.answer(.get("/session", [:], viewer)) == "401 no_session")
        scene.wait(.seconds(6 * 3600))
        _ = scene.session(.automation)
        scene.wait(.seconds(6 * 3600 - 1))
        #expect(scene.answer(.get("/session", [:], admin)) == "200")
        scene.wait(.seconds(6 * 3600 + 1))
        #expect(Self.list(admin, &scene).map { $0["user"]?.string } == ["admin"], "the other one has expired")
        #expect(
            scene.answer(.post("/sessions", body: Array("{}".utf8), admin.filter { $0.key != "x-token" }))
                == "403 wrong_token")
    }

    @Test("the key of a link for a device names it, in letters that every browser keeps")
    func keys() {
        let key = LinkKey.make(device: "Küche: 1+1")
        #expect(LinkKey.device(of: key) == "Küche: 1+1")
        #expect(LinkKey.encoded(key).hasSuffix("%3AK%C3%BCche%3A%201%2B1"))
        #expect(LinkKey.device(of: LinkKey.make(device: nil)) == nil)
        for name in ["", " ", "a\nb", String(repeating: "a", count: 33), "a\u{7F}"] {
            #expect(!DeviceName.isAllowed(name))
        }
        for name in ["a", "Küche", String(repeating: "a", count: 32)] { #expect(DeviceName.isAllowed(name)) }
    }

    @Test(
        "what no release has written is not read",
        arguments: [
            "", "[]", #"{"devices":[]}"#, #"{"version":2,"devices":[{"name":"a","hash":"","began_ms":1,"used_ms":1}]}"#,
            #"{"version":1,"devices":[{"name":"a","hash":"short","began_ms":1,"used_ms":1},7,{"name":""}]}"#,
        ])
    func damaged(text: String) throws {
        let folder = try TemporaryFolder()
        try AtomicFile.write(Array(text.utf8), to: folder.path + "/devices.json", mode: 0o600)
        #expect(StateFiles(environment: [:], runtime: folder.path)?.readDevices() == [])
    }
}
