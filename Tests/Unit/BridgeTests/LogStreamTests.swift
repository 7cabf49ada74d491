import JacquardProtocol
import MQTTTypes
import Testing
import Text
import Time

@testable import Bridge

@Suite("request/log")
struct LogStreamTests {
    private static let time = Scene.beginning.unixMilliseconds
    private static let connected = LogEntry(
        at: time, level: .info, label: "tag", message: "connected",
        fields: [.init("tag", "003R"), .init("attempt", "2")])
    private static let other = LogEntry(
        at: time, level: .info, label: "tag", message: "lost", fields: [.init("tag", "0001")])

    private static func scene(_ payload: String = "") -> Scene {
        let scene = Scene()
        scene.send("bridge/attic/request/log", payload)
        return scene
    }

    @Test("publishes records for its duration, as documented")
    func published() {
        let scene = Self.scene()
        #expect(scene.takeActions() == [.followLog(.info)])
        let result =
            #"{"level":"info","since":"2026-11-20T10:15:02.114Z","tag":null,"until":"2026-11-20T10:20:02.114Z"}"#
        #expect(scene.publications.last?.text.contains(#""data":\#(result)"#) == true)
        let line = #"""
            jacquard/bridge/attic/log {"bridge":"attic","fields":{"attempt":"2","tag":"003R"},"label":"tag",\#
            "level":"info","message":"connected","omitted":0,"past":false,"time":"2026-11-20T10:15:02.114Z"}
            """#
        #expect(scene.handle(.logged([Self.connected], omitted: 0)) == [line])
        #expect(scene.publications.last?.message.qos == .atMostOnce && scene.publications.last?.kind == .stream)
        scene.wait(.seconds(299))
        #expect(scene.takeActions().isEmpty)
        scene.wait(.seconds(1))
        #expect(scene.takeActions() == [.followLog(nil)])
        #expect(scene.handle(.logged([Self.connected], omitted: 0)).isEmpty)
        #expect(scene.state.deadline == nil)
    }

    @Test("takes a level, a tag and a duration", arguments: LogLevel.allCases)
    func keys(level: LogLevel) {
        let scene = Self.scene(#"{"level":"\#(level.rawValue)","tag":"003R","duration_s":3600,"id":"l"}"#)
        #expect(scene.takeActions() == [.followLog(level)])
        #expect(scene.state.diagnostics.log.selection?.tag == .tag003R)
        #expect(scene.state.diagnostics.log.selection?.until == Scene.beginning + .seconds(3_600))
        #expect(scene.handle(.logged([Self.other, Self.connected], omitted: 3)).count == 1)
    }

    @Test(
        "refuses other values",
        arguments: [
            (#"{"level":"loud"}"#, "invalid_argument"), (#"{"duration_s":-1}"#, "invalid_argument"),
            (#"{"duration_s":3601}"#, "invalid_argument"), (#"{"past_s":-1}"#, "invalid_argument"),
            (#"{"past_s":601}"#, "invalid_argument"), (#"{"tag":"9999"}"#, "unknown_tag"),
            (#"{"tag":1}"#, "invalid_argument"), ("info", "invalid_argument"), ("{", "invalid_json"),
        ])
    func refused(payload: String, code: String) {
        let scene = Self.scene(payload)
        #expect(scene.results.last?.error?.code == code)
        #expect(scene.takeActions().isEmpty && scene.state.diagnostics.log.selection == nil)
    }

    @Test("ends with duration 0, at a disconnect, and when the broker refuses the topic")
    func ends() {
        for end in 0..<3 {
            let scene = Self.scene()
            _ = scene.takeActions()
            switch end {
            case 0:
                let lines = scene.send("bridge/attic/request/log", #"{"duration_s":0}"#)
                #expect(lines.last?.contains(#""data":{"level":null,"since":null,"tag":null,"until":null}"#) == true)
            case 1: scene.handle(.brokerDisconnected)
            default: scene.handle(.messageRefused(topic: "jacquard/bridge/attic/log", reason: "not_authorized"))
            }
            #expect(scene.takeActions() == [.followLog(nil)])
            #expect(scene.handle(.logged([Self.connected], omitted: 0)).isEmpty)
        }
        let scene = Scene()
        scene.handle(.brokerDisconnected)
        scene.send("bridge/attic/request/log", #"{"duration_s":0}"#)
        #expect(scene.takeActions().isEmpty)
    }

    @Test("publishes records of the past before the result, and the later ones after it")
    func past() {
        let scene = Scene()
        #expect(scene.send("bridge/attic/request/log", #"{"past_s":600,"level":"debug"}"#).isEmpty)
        #expect(scene.takeActions() == [.recallLog(.debug, .seconds(600), token: scene.tokens.last ?? 0)])
        #expect(scene.state.diagnostics.log.selection == nil)
        let entry = LogEntry(at: Self.time - 61_000, level: .error, label: "mqtt", message: "refused")
        let own = LogEntry(
            at: Self.time, level: .error, label: "daemon", message: "refused",
            fields: [.init("topic", "jacquard/bridge/attic/log")])
        let lines = scene.done(
            .recalled(RecalledLog([entry, own] + Array(repeating: Self.other, count: 60), since: Self.time - 599_000)))
        #expect(scene.takeActions() == [.followLog(.debug)])
        #expect(
            lines.first == #"""
                jacquard/bridge/attic/log {"bridge":"attic","fields":{},"label":"mqtt","level":"error",\#
                "message":"refused","omitted":0,"past":true,"time":"2026-11-20T10:14:01.114Z"}
                """#)
        #expect(lines.count == 62, "all of them, and the result")
        #expect(lines.dropLast().allSatisfy { $0.contains(#""past":true"#) })
        #expect(lines.last?.contains(#""since":"2026-11-20T10:05:03.114Z""#) == true)
        #expect(scene.handle(.logged([Self.connected], omitted: 0)).first?.contains(#""past":false"#) == true)
    }

    @Test("publishes records of the past of one tag, and none to end the publication")
    func pastOfTag() {
        let scene = Self.scene(#"{"past_s":60,"tag":"003R"}"#)
        let lines = scene.done(.recalled(RecalledLog([Self.other, Self.connected], since: Self.time)))
        #expect(lines.count == 2 && lines.first?.contains(#""tag":"003R""#) == true)
        _ = scene.takeActions()
        scene.send("bridge/attic/request/log", #"{"past_s":60,"duration_s":0}"#)
        #expect(scene.takeActions() == [.followLog(nil)])
    }

    @Test("a new request replaces the last one")
    func replaced() {
        let scene = Self.scene(#"{"tag":"003R","duration_s":1}"#)
        scene.send("bridge/attic/request/log", #"{"level":"debug","duration_s":10}"#)
        #expect(scene.takeActions() == [.followLog(.info), .followLog(.debug)])
        scene.wait(.seconds(5))
        #expect(scene.handle(.logged([Self.other], omitted: 0)).count == 1)
    }

    @Test("publishes at most 50 messages a second, with the number of omitted records")
    func rate() {
        let scene = Self.scene()
        let flood = Array(repeating: Self.connected, count: 80)
        #expect(scene.handle(.logged(flood, omitted: 5)).count == 50)
        #expect(scene.publications.last(where: { $0.topic.hasSuffix("/log") })?.text.contains(#""omitted":0"#) == true)
        #expect(scene.handle(.logged(flood, omitted: 0)).isEmpty)
        let lines = scene.wait(.seconds(1))
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""message":"records omitted","omitted":110"#) == true)
        #expect(scene.handle(.logged(flood, omitted: 0)).count == 49)
        scene.wait(.milliseconds(1_500))
        // A record after a quiet second has no count.
        #expect(scene.handle(.logged([Self.connected], omitted: 0)).first?.contains(#""omitted":0"#) == true)
        // Over any time: at most 51 messages for each second.
        let scene2 = Self.scene()
        var published = 0
        for _ in 0..<100 {
            published += scene2.handle(.logged(flood, omitted: 0)).count
            published += scene2.wait(.milliseconds(100)).count
        }
        #expect(published <= 50 * 11)
    }

    @Test("counts what the driver omitted with the next record")
    func omittedByDriver() {
        let scene = Self.scene()
        scene.handle(.logged([], omitted: 7))
        let lines = scene.handle(.logged([Self.connected], omitted: 0))
        #expect(lines.first?.contains(#""omitted":7"#) == true)
    }

    @Test("records about its own topic are not published")
    func ownTopic() {
        let scene = Self.scene(#"{"level":"trace"}"#)
        let own = LogEntry(
            at: Self.time, level: .warning, label: "daemon", message: "the broker refuses a message",
            fields: [.init("topic", "jacquard/bridge/attic/log")])
        #expect(scene.handle(.logged([own], omitted: 0)).isEmpty)
    }

    @Test("records with the address of the tag belong to it")
    func address() {
        let scene = Self.scene(#"{"tag":"003R"}"#)
        let entry = LogEntry(
            at: Self.time, level: .info, label: "bluez", message: "linked", fields: [.init("address", "F0:01")])
        #expect(scene.handle(.logged([entry], omitted: 0)).isEmpty)
        scene.handle(.sighting(.tag003R, TagSighting(address: "F0:01")))
        #expect(scene.handle(.logged([entry], omitted: 0)).count == 1)
    }

    @Test("a long value is cut")
    func long() {
        let scene = Self.scene()
        let entry = LogEntry(
            at: Self.time, level: .info, label: "a", message: "b",
            fields: [.init("error", String(repeating: "x", count: 1_000))])
        let line = scene.handle(.logged([entry], omitted: 0)).first
        #expect(line?.contains(String(repeating: "x", count: 256) + #"...""#) == true)
        #expect(line?.contains(String(repeating: "x", count: 257)) == false)
    }
}
