import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("What a sender gets wrong")
struct CommandInputTests {
    private static let deep = String(repeating: "[", count: 600) + String(repeating: "]", count: 600)

    @Test(
        "gets one result that keeps the id and says what was not understood, and nothing is sent",
        arguments: [
            (#"{"id":"a","color":"red","ttl_ms":1e999}"#, "invalid_json", #""ttl_ms" is a number that is too large"#),
            (#"{"frames":[{"duration_ms":-1e999}],"id":"a"}"#, "invalid_json", "frames[0].duration_ms"),
            (#"{"id":"a","color":"red","ttl_ms":-1}"#, "invalid_argument", #""ttl_ms" is -1"#),
            (#"{"id":"a","color":"red","ttl_ms":1.5}"#, "invalid_argument", #""ttl_ms" is 1.5"#),
            (#"{"id":"a","color":"red","ttl_ms":"5"}"#, "invalid_argument", #""ttl_ms" is "5""#),
            (#"{"id":"a","color":"red","ttl_ms":99999999999999999999}"#, "invalid_argument", #""ttl_ms" is 1e+20"#),
            (#"{"id":"a","color":"red","ttl_ms":NaN}"#, "invalid_json", "is not JSON"),
            (#"{"id":"a","color":"red","color":"blue"}"#, "invalid_json", #"The key "color" comes twice"#),
            (#"{"id":"a","color":"red","\u0063olor":"red"}"#, "invalid_json", #"The key "color" comes twice"#),
            (#"{"id":"a","color":{"r":1,"g":2,"b":3,"r":4}}"#, "invalid_json", #"The key "color.r" comes twice"#),
            (
                #"{"frames":[{"color":"red","duration_ms":1},{"color":"red","color":"red","duration_ms":1}],"id":"a"}"#,
                "invalid_json", #"The key "frames[1].color" comes twice"#
            ),
            (#"{"id":"a","id":"b","color":"red"}"#, "invalid_json", #"The key "id" comes twice"#),
            (#"{"id":"a","color":"red""#, "invalid_json", "is not JSON"),
            ("\u{FEFF}" + #"{"id":"a","color":"red"}"#, "invalid_json", "byte order mark"),
            (#"{"x":\#(deep),"id":"a","color":"red"}"#, "invalid_json", "more than 512 lists and objects"),
            (#"{"id":"a","color":"red","x":"\#(String(repeating: "x", count: 5_000))"}"#, "payload_too_large", "4096"),
            (#"{"id":"a","brightness":"255"}"#, "invalid_argument", #""brightness" is "255""#),
            (#"{"id":"a","color":[255,0,0]}"#, "invalid_argument", #""color" is a list"#),
            (#"{"id":"a","color":""}"#, "invalid_argument", #""color" is """#),
        ])
    func id(payload: String, code: String, text: String) {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", payload)
        #expect(scene.performed == [])
        #expect(scene.results.map(\.id) == ["a"])
        #expect(scene.lastError?.code == code)
        #expect(scene.lastError?.text.contains(text) == true, "\(scene.lastError?.text ?? "")")
    }

    @Test("gets no id if there is none that can be returned", arguments: ["7", "null", #"["a"]"#, "{}"])
    func wrongID(id: String) {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", #"{"id":\#(id),"color":"red"}"#)
        #expect(scene.performed.isEmpty == (id != "null"))
        if id != "null" { #expect(scene.results.map(\.id) == [nil]) }
    }

    @Test("about an invalid UTF-8 text keeps the id, too")
    func notText() {
        let scene = Scene.connected()
        let payload = Array(#"{"id":"a","color":""#.utf8) + [0xFF] + Array(#""}"#.utf8)
        scene.receive(MQTTMessage(topic: "jacquard/tag/003R/led/set", payload: payload))
        #expect(scene.results.map(\.id) == ["a"])
        #expect(scene.lastError?.text == "The payload is not UTF-8 text")
    }

    @Test(
        "on a topic of a command that does not exist gets a result there",
        arguments: ["imu/x/set", "imu/x/get", "imu/sessions/set", "led/blink/set"])
    func unknownName(name: String) {
        for prefix in ["tag/003R/", "group/all/"] {
            let scene = Scene(groups: ["all": [.tag003R]])
            scene.connect()
            scene.send(prefix + name, #"{"id":"a"}"#)
            #expect(scene.results.map(\.id) == ["a"])
            #expect(scene.lastError?.code == "unknown_command")
            #expect(scene.publications.last?.topic == "jacquard/tag/003R/\(name.dropLast(4))/result")
        }
    }

    @Test("in a frame or a colour is named with its path")
    func ignoredPath() {
        let scene = Scene.connected()
        scene.send(
            "tag/003R/led/set",
            #"{"frames":[{"color":{"r":1,"g":2,"b":3,"w":4},"duration_ms":1,"lenght":2}],"brigtness":1}"#)
        scene.answer()
        let result = scene.publications.last { $0.topic.hasSuffix("led/result") }?.text ?? ""
        #expect(result.contains(#""brigtness":"did you mean brightness?""#))
        #expect(result.contains(#""frames[0].color.w":"unknown; the keys are r, g, b""#))
        #expect(result.contains(#""frames[0].lenght":"unknown; the keys are color, duration_ms""#))
        scene.send("tag/003R/led/set", #"{"color":{"r":1,"g":2,"b":3,"x":4}}"#)
        scene.answer()
        #expect(scene.publications.contains { $0.text.contains(#""ignored":{"color.x":"#) })
    }

    @Test("stop of a scan and of a recording has a JSON form", arguments: ["scan", "gatt"])
    func stop(name: String) {
        let scene = Scene.connected()
        scene.powerOn()
        for payload in ["stop", #"{"\#(name)":"stop","id":"a"}"#] {
            _ = scene.takeActions()
            scene.send("bridge/attic/request/\(name)", payload)
            #expect(scene.takeActions() == [])
            #expect(scene.results.last?.status == "ok")
        }
        #expect(scene.results.last?.id == "a")
        scene.send("bridge/attic/request/\(name)", #"{"\#(name)":"halt","id":"b"}"#)
        #expect(scene.lastError?.text == #""\#(name)" is "halt"; it may be start, stop"#)
        #expect(scene.takeActions() == [])
    }

    @Test("get and set of one name do not share the results of an id")
    func getAndSet() {
        let scene = Scene.connected()
        scene.send("tag/003R/config/set", #"{"key":"k","type":"uint32","value":7,"id":"a"}"#)
        scene.send("tag/003R/config/get", #"{"key":"k","id":"a"}"#)
        #expect(scene.performed.count == 2)
        scene.report(.commandEnded(token: scene.tokens[0], .success(.done)))
        scene.report(.commandEnded(token: scene.tokens[1], .success(.configValue(.uint32(8)))))
        scene.send("tag/003R/config/get", #"{"key":"k","id":"a"}"#)
        scene.send("tag/003R/config/set", #"{"key":"k","type":"uint32","value":7,"id":"a"}"#)
        #expect(scene.performed.count == 2)
        let values = scene.publications.filter { $0.topic.hasSuffix("config/result") }.map { $0.text.contains(":8") }
        #expect(values == [false, true, true, false])
    }
}

@Suite("An empty retained message")
struct RetainedDeletionTests {
    private static let topics =
        TagRequestTable.rows.flatMap { ["tag/003R/\($0.name)", "group/all/\($0.name)"] }
        + BridgeRequestTable.rows.map { "bridge/attic/request/\($0.name)" } + ["tag/003R/no/set", "tag/0000/led/set"]

    private static func scene(version: Int) -> Scene {
        let scene = Scene(groups: ["all": [.tag003R]])
        scene.powerOn()
        scene.connect()
        scene.handle(.brokerProtocol(version))
        scene.publications = []
        _ = scene.takeActions()
        return scene
    }

    @Test("is a deletion, and has no result", arguments: topics)
    func deletion(topic: String) {
        let scene = Self.scene(version: 5)
        scene.receive(MQTTMessage(topic: "jacquard/" + topic, payload: [], isRetained: true))
        #expect(scene.publications.isEmpty && scene.performed.isEmpty && scene.takeActions() == [])
        scene.receive(MQTTMessage(topic: "jacquard/" + topic, payload: [32], isRetained: true))
        #expect(scene.results.isEmpty == topic.contains("0000") || scene.lastError?.code == "retained_rejected")
    }

    @Test("arrives without its flag with MQTT 3.1.1: after a retained command it is a deletion", arguments: topics)
    func deletionWithoutFlag(topic: String) {
        let scene = Self.scene(version: 4)
        scene.receive(MQTTMessage(topic: "jacquard/" + topic, payload: Array("x".utf8), isRetained: true))
        #expect(scene.results.map(\.error?.code) == ["retained_rejected"])
        scene.publications = []
        scene.receive(MQTTMessage(topic: "jacquard/" + topic, payload: []))
        #expect(scene.publications.isEmpty && scene.performed.isEmpty && scene.takeActions() == [])
    }

    @Test("is no command with MQTT 3.1.1 if the command needs a payload; with MQTT 5, it gets a result")
    func needsPayload() {
        for row in TagRequestTable.rows {
            let scene = Self.scene(version: 4)
            scene.send("tag/003R/\(row.name)", "")
            #expect((scene.publications.isEmpty && scene.performed.isEmpty) == row.needsPayload, "\(row.name)")
            let other = Self.scene(version: 5)
            other.send("tag/003R/\(row.name)", "")
            #expect(other.performed.isEmpty == (row.needsPayload || row.name == "rssi/get"), "\(row.name)")
            #expect(!row.needsPayload || other.results.map(\.status) == ["error"], "\(row.name)")
        }
    }
}
