import JacquardProtocol
import MQTTTypes
import Testing
import Text

@testable import Bridge

@Suite("request/tags, request/health, request/log_level")
struct BridgeRequestTests {
    private let measurement = HealthMeasurement(residentKilobytes: 9_120, queued: 0, dropped: 0, brokerReconnects: 0)

    @Test("tags lists known and seen tags")
    func tags() {
        let scene = Scene.connected()
        let seen = TagAdvertisement(address: "F0:02", serial: "0001", name: "", rssi: nil, isConnected: true)
        scene.handle(.advertisement(seen))
        scene.report(.gear(.jacket))
        let line = #"""
            jacquard/bridge/attic/response/tags {"bridge":"attic","data":{"known":[{"address":null,\#
            "configured":true,"connect":"always","held":false,"id":"003R","last_gear":"Levi's Trucker Jacket",\#
            "last_seen":"2026-11-20T10:15:02.114Z","name":null,"paired":null,"rssi":null,"serial":"003R",\#
            "state":"connected"}],"seen":[{"address":"F0:02","connected":true,"known":false,\#
            "last_seen":"2026-11-20T10:15:02.114Z","name":null,"rssi":null,"serial":"0001"}]},"error":null,\#
            "final":true,"id":null,"status":"ok","time":"2026-11-20T10:15:02.114Z","took_ms":0}
            """#
        #expect(scene.send("bridge/attic/request/tags", "").last == line)
    }

    @Test("tags has equal facts about a tag in both lists")
    func agreement() {
        let scene = Scene()
        let heard = TagAdvertisement(address: "F0:01", serial: "003R", name: "old", rssi: -70)
        scene.handle(.advertisement(heard))
        scene.wait(.seconds(5))
        let sighting = TagSighting(address: "F0:01", adapter: "hci0", rssi: -50, name: "Sleeve", isPaired: true)
        scene.handle(.sighting(.tag003R, sighting))
        scene.report(.connection(TagConnection(state: .connected, attempt: 1)))
        let line = scene.send("bridge/attic/request/tags", "").last ?? ""
        let same = #""last_seen":"2026-11-20T10:15:07.114Z","name":"Sleeve","#
        #expect(line.split(separator: #""seen":"#).allSatisfy { $0.contains(same) && $0.contains(#""rssi":-50"#) })
        #expect(line.contains(#""connected":true,"known":true"#))
    }

    @Test("seen tags are removed when Bluetooth is off")
    func noDevices() {
        let scene = Scene()
        let seen = TagAdvertisement(address: "F0:02", serial: "0001", name: nil, rssi: nil)
        scene.handle(.advertisement(seen))
        scene.handle(.bluetooth(.poweredOff))
        #expect(scene.send("bridge/attic/request/tags", "").last?.contains(#""seen":[]"#) == true)
    }

    @Test("the number of seen tags is bounded")
    func bounded() {
        var seen = SeenTags()
        for number in 0..<300 {
            let now = Scene.beginning + .seconds(number)
            seen.received(
                TagAdvertisement(address: "\(number)", serial: "\(number)", name: nil, rssi: nil), at: now)
        }
        #expect(seen.all.count == 256)
        #expect(!seen.all.contains { $0.tag.address == "43" })
    }

    @Test("health measures the process and publishes the result")
    func health() {
        let scene = Scene.connected()
        scene.send("bridge/attic/request/health", "")
        #expect(scene.takeActions().last == .measure(token: 1))
        scene.wait(.milliseconds(250))
        let lines = scene.done(.measured(measurement))
        let document =
            #"{"broker_reconnects":0,"dropped":0,"problems":[],"queue":0,"rss_kb":9120,"status":"ok","uptime_s":0}"#
        #expect(lines.first == "jacquard/bridge/attic/health " + document)
        #expect(lines.last?.contains(#""data":\#(document)"#) == true)
        #expect(scene.results.map(\.status) == ["accepted", "ok"])
    }

    @Test(
        "accept the least and the greatest value of each number, and say what is allowed beside them",
        arguments: [
            ("scan", #""duration_s":N"#, "duration_s", 1, 3_600), ("log", #""duration_s":N"#, "duration_s", 0, 3_600),
            ("log", #""past_s":N"#, "past_s", 0, 600), ("trace", #""count":N"#, "count", 1, 100),
            ("trace", #""tag":"003R","seq":N"#, "seq", 1, 4_294_967_295),
            ("pair", #""serial":"0001","timeout_s":N"#, "timeout_s", 1, 300),
            ("gatt", #""tag":"003R","duration_s":N"#, "duration_s", 1, 3_600),
        ])
    func limits(name: String, keys: String, key: String, least: Int, greatest: Int) {
        for (value, isAllowed) in [(least - 1, false), (least, true), (greatest, true), (greatest + 1, false)] {
            let scene = Scene.connected()
            scene.send("bridge/attic/request/\(name)", "{\(keys.replacing("N", with: "\(value)"))}")
            let text = "\"\(key)\" is \(value); it may be \(least) to \(greatest)"
            #expect(scene.lastError?.text.hasPrefix(text) == (isAllowed ? nil : true), "\(value)")
        }
    }

    @Test("log_level accepts the names of the configuration", arguments: LogLevel.allCases)
    func logLevel(level: LogLevel) {
        for payload in [level.rawValue, #"{"level":"\#(level.rawValue)","id":"l"}"#] {
            let scene = Scene()
            scene.send("bridge/attic/request/log_level", payload)
            #expect(scene.takeActions() == [.setLogLevel(level)])
            #expect(scene.results.last?.status == "ok")
        }
    }

    @Test(
        "reject an invalid value",
        arguments: [
            ("tags", "all", #""payload" is "all"; it may be empty, or an object with id and ttl_ms"#),
            ("tags", #"{"id":7}"#, #""id" is 7; it may be a text of at most 64 bytes"#),
            ("tags", "[]", "The payload is a list; it may be an object or one word"),
            ("health", "now", #""payload" is "now"; it may be empty, or an object with id and ttl_ms"#),
            ("health", #"{"id":7}"#, #""id" is 7; it may be a text of at most 64 bytes"#),
            ("health", "[]", "The payload is a list; it may be an object or one word"),
            ("log_level", "", #""level" is missing; it may be error, warning, notice, info, debug, trace"#),
            ("log_level", "loud", #""payload" is "loud"; it may be error, warning, notice, info, debug, trace"#),
            ("log_level", #"{"level":3}"#, #""level" is 3; it may be error, warning, notice, info, debug, trace"#),
        ])
    func wrongValues(verb: String, payload: String, text: String) {
        let scene = Scene()
        scene.send("bridge/attic/request/" + verb, payload)
        #expect(scene.lastError == ResultError(code: "invalid_argument", text: text, hint: nil, retryable: false))
    }

    @Test("follow the rules of all commands: retained, too large, repeated, busy")
    func pendingCommands() {
        let topic = "jacquard/bridge/attic/request/log_level"
        let scene = Scene(commandsPerTag: 1)
        scene.receive(MQTTMessage(topic: topic, payload: Array("debug".utf8), isRetained: true))
        #expect(scene.lastError?.code == "retained_rejected")
        scene.receive(MQTTMessage(topic: topic, payload: [UInt8](repeating: 32, count: 4_097)))
        #expect(scene.lastError?.code == "payload_too_large")
        let payload = Array(#"{"level":"debug","id":"1"}"#.utf8)
        for _ in 0..<2 { scene.receive(MQTTMessage(topic: topic, payload: payload, responseTopic: "me")) }
        #expect(scene.takeActions() == [.setLogLevel(.debug)])
        #expect(scene.publications.filter { $0.topic == "me" }.count == 2)
        scene.send("bridge/attic/request/health", "")
        scene.send("bridge/attic/request/health", "")
        #expect(scene.lastError?.text == "The bridge has 1 command pending, which is the limit")
    }
}
