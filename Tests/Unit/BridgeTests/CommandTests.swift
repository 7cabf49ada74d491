import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("Commands")
struct CommandTests {
    private let led = "tag/003R/led/set"

    @Test("get one result, on their own topic, when the tag has responded")
    func result() {
        let scene = Scene.connected()
        #expect(scene.send(led, #"{"state":"ON","id":"abc-1"}"#) == [])
        scene.now = scene.now + .milliseconds(41)
        #expect(
            scene.answer().first
                == #"jacquard/tag/003R/led/result {"bridge":"attic","data":{},"error":null,"final":true,"#
                + #""id":"abc-1","status":"ok","time":"2026-11-20T10:15:02.155Z","took_ms":41}"#)
        #expect(scene.answer() == [])
        #expect(scene.wait(.seconds(5)) == [])
    }

    @Test("get a result with the error")
    func error() {
        let scene = Scene.connected()
        #expect(
            scene.send(led, #"{"state":"x","id":"abc-1"}"#) == [
                #"jacquard/tag/003R/led/result {"bridge":"attic","data":{},"error":{"code":"invalid_argument","#
                    + #""hint":null,"retryable":false,"text":"\"state\" is \"x\"; it may be ON, OFF"},"final":true,"#
                    + #""id":"abc-1","status":"error","time":"2026-11-20T10:15:02.114Z","took_ms":0}"#
            ])
    }

    @Test(
        "end with the error code of the session's error",
        arguments: [
            (.gearNotAttached, "unsupported", false), (.componentDoesNotSupportPlayLEDPattern, "unsupported", false),
            (.componentDoesNotSupportPlayHaptic, "unsupported", false),
            (.componentDoesNotSupportTouchMode, "unsupported", false),
            (.timeout, "timeout", true), (.linkLost, "link_lost", true),
            (.writeFailed(name: "org.bluez.Error.Failed", text: "no"), "link_lost", true),
            (.busy(name: "org.bluez.Error.InProgress", text: "no"), "busy", true),
            (.status(.badParameter), "tag_error", false), (.status(.busy), "tag_error", true),
            (.malformedResponse, "tag_error", false), (.invalidParameter, "invalid_argument", false),
        ] as [(TagCommandError, String, Bool)])
    func failures(error: TagCommandError, code: String, isRetryable: Bool) {
        let scene = Scene.connected()
        scene.send(led, "on")
        #expect(scene.fail(error).count == 1)
        #expect(scene.lastError?.code == code)
        #expect(scene.lastError?.retryable == isRetryable)
    }

    @Test("show the status name of a refusal")
    func status() {
        let scene = Scene.connected()
        scene.send(led, "on")
        scene.fail(.status(.badParameter))
        #expect(scene.lastError?.text == "The tag refused: ERROR_BADPARAM")
    }

    @Test("that are unknown get an error with the existing names")
    func unknownCommand() {
        let scene = Scene.connected()
        let own = [
            "battery/get", "config/get", "config/set", "connection/set", "haptic/set", "info/get", "led/set",
            "modules/get",
            "modules/set", "name/set", "notify/set", "rssi/get", "sleep/set", "touch_mode/set",
        ]
        let names = (own + Features.commands.map { $0.name }).sorted().joined(separator: ", ")
        let verbs =
            "battery_history, doctor, forget, gatt, health, log, log_level, metrics, pair, pair_serial, refresh, scan, tags, trace"
        for (topic, text) in [
            ("tag/003R/sing/set", "There is no command \"sing/set\"; there are \(names)"),
            ("tag/003R/led/get", "There is no command \"led/get\"; there are \(names)"),
            ("bridge/attic/request/reboot", "There is no request \"reboot\"; there are \(verbs)"),
        ] {
            #expect(scene.send(topic, "").count == 1)
            #expect(scene.lastError == ResultError(code: "unknown_command", text: text, hint: nil, retryable: false))
        }
        #expect(
            scene.publications.suffix(3).map(\.topic) == [
                "jacquard/tag/003R/sing/result", "jacquard/tag/003R/led/result",
                "jacquard/bridge/attic/response/reboot",
            ])
    }

    @Test("for an unknown tag get a result on that tag's topic")
    func unknownTag() {
        let scene = Scene.connected()
        scene.send("tag/9999/led/set", "on")
        #expect(scene.publications.last?.topic == "jacquard/tag/9999/led/result")
        #expect(
            scene.lastError
                == ResultError(
                    code: "unknown_tag", text: #"There is no tag "9999"; there are 003R"#, hint: nil, retryable: false))
    }

    @Test("with the retain flag are rejected; the same command without it is executed")
    func retained() {
        let scene = Scene.connected()
        let payload = Array(#"{"state":"ON","id":"r"}"#.utf8)
        scene.receive(MQTTMessage(topic: "jacquard/tag/003R/led/set", payload: payload, isRetained: true))
        #expect(scene.lastError?.code == "retained_rejected")
        #expect(scene.results.last?.id == "r")
        #expect(scene.performed == [])
        scene.receive(MQTTMessage(topic: "jacquard/tag/003R/led/set", payload: payload))
        #expect(scene.performed.count == 1)
    }

    @Test("have at most 4 KiB")
    func length() {
        let scene = Scene.connected()
        let longest = #"{"state":"ON"}"# + String(repeating: " ", count: 4_096 - 14)
        scene.send(led, longest)
        #expect(scene.performed.count == 1)
        scene.send(led, longest + " ")
        #expect(
            scene.lastError
                == ResultError(
                    code: "payload_too_large", text: "The payload has 4097 bytes; a command has at most 4096",
                    hint: nil,
                    retryable: false))
    }

    @Test(
        "must be UTF-8, and JSON or one word",
        arguments: [
            [0xFF, 0xFE], [0xC3], Array("{\"state\":\"ON\"".utf8), Array("{state:ON}".utf8), Array("turn it on".utf8),
            Array("\"on".utf8), [0x6F, 0x6E, 0x00], Array("{\"state\":\"\u{0}\"}".utf8),
            Array(#"{"state":"ON"} {"state":"OFF"}"#.utf8), Array(#"{"state":"ON","x":1e999}"#.utf8),
            [UInt8](repeating: UInt8(ascii: "["), count: 4_096), Array(#"{"a":"#.utf8) + [0xED, 0xA0, 0x80],
        ] as [[UInt8]])
    func invalidJSON(payload: [UInt8]) {
        let scene = Scene.connected()
        scene.receive(MQTTMessage(topic: "jacquard/tag/003R/led/set", payload: payload))
        #expect(scene.lastError?.code == "invalid_json")
        #expect(scene.performed == [])
    }

    @Test(
        "accept any JSON without a trap",
        arguments: [
            "[]", "null", "[[]]", String(repeating: "[", count: 500) + String(repeating: "]", count: 500),
            #"{"state":{}}"#, "-",
        ])
    func oddJSON(payload: String) {
        let scene = Scene.connected()
        scene.send(led, payload)
        #expect(scene.lastError?.code == "invalid_argument")
    }

    @Test("quote an invalid payload, shortened")
    func longQuotes() {
        let scene = Scene.connected()
        scene.send(led, #"{"state":"\#(String(repeating: "a", count: 1_000))"}"#)
        #expect(scene.lastError?.text == #""state" is "\#(String(repeating: "a", count: 40))…"; it may be ON, OFF"#)
    }

    @Test("to a tag that is disabled are not permitted")
    func policy() {
        let scene = Scene(tags: [TagEntry(id: .tag003R, serial: "003R", connect: .never)])
        scene.send(led, "on")
        #expect(scene.lastError?.code == "not_permitted")
        #expect(scene.state.deadline == nil)
    }

    @Test("are rejected as busy when 32 of the tag are pending")
    func busy() {
        let other = TagEntry(id: .known("0001"), serial: "0001")
        let scene = Scene.connected(tags: [.tag003R, other])
        for _ in 0..<32 { scene.send(led, "on") }
        #expect(scene.results == [])
        scene.send(led, "on")
        #expect(scene.lastError?.code == "busy")
        #expect(scene.lastError?.retryable == true)
        #expect(scene.performed.count == 32)
        scene.send("tag/0001/led/set", #"{"state":"ON","ttl_ms":0}"#)
        #expect(scene.lastError?.code == "tag_offline")
        scene.answer()
        scene.send(led, "on")
        #expect(scene.performed.count == 33)
    }

    @Test("that the session never completes get an internal error")
    func defect() {
        let scene = Scene.connected()
        scene.send(led, "on")
        scene.wait(.seconds(600))
        #expect(
            scene.lastError
                == ResultError(
                    code: "internal", text: "The command was never completed",
                    hint: "Report this with the bridge's log and the command", retryable: false))
    }

    @Test(
        "on other topics are ignored",
        arguments: ["tag/003R/led", "tag/003R/led/set/x", "tag//set", "bridge/b/request/scan", "x"])
    func otherTopics(topic: String) {
        let scene = Scene.connected()
        #expect(scene.send(topic, "on") == [])
        #expect(scene.performed == [])
    }

    @Test("get a result and have no effect while the bridge stops, because the broker counts them as delivered")
    func whileStopping() {
        let scene = Scene.connected()
        scene.state.intake.groups = GroupTable(["all": [.tag003R]])
        scene.handle(.stopping)
        scene.send(led, #"{"state":"ON","id":"late"}"#)
        scene.send("group/all/led/set", #"{"state":"ON","id":"group"}"#)
        scene.send("bridge/attic/request/scan", #"{"id":"scan"}"#)
        scene.send("tag/none/led/set", #"{"id":"unknown"}"#)
        #expect(scene.results.map(\.id) == ["late", "group", "scan", "unknown"])
        #expect(scene.results.allSatisfy { $0.error?.code == "tag_offline" && $0.error?.retryable == true })
        #expect(scene.performed == [] && scene.tokens == [])
        #expect(scene.state.deadline == nil)
    }

    @Test("while the bridge stops, another bridge with the tag executes those that it received after `offline`")
    func whileStoppingBesideAnother() {
        for (echo, number) in [(false, 1), (true, 0)] {
            let scene = Scene.connected()
            scene.send("bridge/zoo/state", "online")
            scene.send("bridge/zoo/info", #"{"tags":["003R"],"connected":[]}"#)
            scene.handle(.stopping)
            scene.send("bridge/attic/state", "online")
            if echo { scene.send("bridge/attic/state", "offline") }
            scene.send(led, #"{"state":"ON"}"#)
            #expect(scene.results.count == number)
        }
        let scene = Scene()
        scene.send("bridge/zoo/state", "online")
        scene.send("bridge/zoo/info", #"{"tags":["003R"],"connected":["003R"]}"#)
        scene.handle(.stopping)
        scene.send(led, #"{"state":"ON"}"#)
        #expect(scene.results.isEmpty)
    }

    @Test("all get a result when the bridge stops, and the bridge's offline is published last")
    func stop() {
        let scene = Scene.connected()
        scene.send(led, #"{"state":"ON","id":"sent"}"#)
        scene.disconnect()
        scene.send(led, #"{"state":"ON","id":"waiting"}"#)
        let lines = scene.handle(.stopping)
        #expect(scene.results.map(\.id) == ["sent", "waiting"])
        #expect(scene.results.map(\.error?.code) == ["link_lost", "tag_offline"])
        #expect(lines[2] == "jacquard/tag/003R/availability offline")
        #expect(lines[3].contains(#""state":"disconnected""#))
        #expect(lines.last == "jacquard/bridge/attic/state offline")
        #expect(scene.report(.gesture(.doubleTap)) == [])
        #expect(scene.handle(.stopping) == [])
        #expect(scene.state.deadline == nil)
    }
}
