import BrokerAccess
import EventLoop
import JSON
import MQTTTypes
import Terminal
import TestSupport
import Testing

@testable import BridgeClient
@testable import CommandLine
@testable import Configuration

@Suite("Commands with a request to the bridge")
struct ClientCommandTests {
    private static let ok = #"{"id":"ID","status":"ok","final":true,"data":{"x":1},"error":null,"took_ms":41}"#
    private static let refused = #"""
        {"id":"ID","status":"error","final":true,"data":{},
        "error":{"code":"unknown_tag","text":"There is no tag","hint":"scan","retryable":false}}
        """#
    private static let foreign = #"{"id":"other","status":"error","error":{"code":"busy","text":"not ours"}}"#
    private static let red = LEDCommand(tags: TagOperand(["0001"]), light: .color("#ff0000"))

    @Test(
        "get the answer with either version of MQTT, and with MQTT 5 on their own topic",
        arguments: [(.v5, false), (.v5, true), (.v311, false)] as [(Settings.MQTT.Version, Bool)])
    func answer(version: Settings.MQTT.Version, isPrivate: Bool) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(broker)
            bridge.answersInPrivate = isPrivate
            bridge.answer("tag/0001/led/set", [("tag/0001/led/result", Self.ok)])
            let written = Written()
            let code = await ClientAction.perform(Self.red, .test(broker.port, written, version: version))
            #expect(code == .done)
            #expect(written.lines(.standardOutput) == ["0001: LED is red, after 41 ms"])
            #expect(bridge.requests.map(\.topic) == ["jacquard/tag/0001/led/set"])
            #expect(JSONValue(payload: bridge.requests.first?.payload ?? [])["color"] == "#ff0000")
            await bridge.stop()
        }
    }

    @Test("print the result unchanged with --json")
    func json() async throws {
        try await asking(Self.red, isJSON: true, [("tag/0001/led/result", Self.ok)]) { code, written in
            #expect(code == .done)
            #expect(written.document["data"]?["x"] == 1)
        }
    }

    @Test("wait for their own answer, and exit with 1 and the error's text")
    func error() async throws {
        let answers = [("tag/0001/led/result", Self.foreign), ("tag/0001/led/result", Self.refused)]
        try await asking(Self.red, isJSON: true, answers) { code, written in
            #expect(code == .failed)
            // On a busy machine a line about the wait comes before.
            #expect(written.lines(.standardError).suffix(2) == ["jacquard2mqtt: There is no tag", "hint: scan"])
            #expect(written.document["error"]?["code"] == "unknown_tag")
        }
    }

    @Test("exit with 3 if the bridge stops meanwhile")
    func goesAway() async throws {
        try await asking(Self.red, [("bridge/attic/state", "offline")]) { code, written in
            #expect(code == .noConnection)
            #expect(written.lines(.standardError).contains { $0.contains("is offline") })
        }
    }

    @Test("pair with the serial and report the tag's id")
    func pair() async throws {
        let answers = [
            ("bridge/attic/response/pair", #"{"id":"ID","status":"accepted","final":false}"#),
            ("bridge/attic/event", #"{"type":"pair_started","serial":"0001"}"#),
            ("bridge/attic/response/pair", #"{"id":"ID","status":"ok","final":true,"data":{"id":"sleeve"}}"#),
        ]
        try await asking(PairCommand(serial: "0001", timeout: .seconds(5)), of: "bridge/attic/request/pair", answers) {
            #expect($0 == .done)
            #expect($1.lines(.standardOutput) == ["0001 is paired, as sleeve"])
            let advice =
                "Hold the button of the tag 0001 for three seconds, near this machine: it then advertises for 60 seconds; looking for it for 5 s ..."
            #expect($1.lines(.standardError).contains(advice))
        }
    }

    @Test("report once why a tag was not paired")
    func pairingFails() async throws {
        let error = #"{"code":"expired","text":"The tag was not found before the timeout","hint":"Again"}"#
        let answers = [
            ("bridge/attic/response/pair", #"{"id":"ID","status":"accepted","final":false}"#),
            ("bridge/attic/event", #"{"type":"pair_started","serial":"0001"}"#),
            (
                "bridge/attic/event",
                #"{"type":"pair_failed","serial":"0001","text":"The tag was not found before the timeout"}"#
            ),
            ("bridge/attic/response/pair", #"{"id":"ID","status":"error","final":true,"error":\#(error)}"#),
        ]
        try await asking(PairCommand(serial: "0001", timeout: .seconds(5)), of: "bridge/attic/request/pair", answers) {
            #expect($0 == .failed)
            #expect($1.lines(.standardError).count { $0.contains("not found before the timeout") } == 1)
        }
    }

    @Test("question a serial at once that looks like a received one, and name the received ones at the end")
    func mistyped() async throws {
        let tags = """
            {"known":[{"serial":"0001","state":"connected"}],"seen":[{"serial":"0001","known":true},{"serial":"003R","known":false}]}
            """
        try await pairing("003r", tags: tags, error: "expired") { code, errors in
            #expect(code == .failed)
            #expect(errors.contains("The tag 003r is neither known nor received (did you mean 003R?)"))
            let end = "jacquard2mqtt: Not found; received: 003R"
            #expect(errors.contains(end), "\(errors)")
        }
        let listed = #"{"known":[{"serial":"003r"}],"seen":[{"serial":"003R","known":false}]}"#
        try await pairing("003r", tags: listed, error: "expired") { _, errors in
            #expect(errors.contains("The tag 003r is not received (did you mean 003R?)"))
        }
        try await pairing("0077", tags: #"{"known":[],"seen":[]}"#, error: "expired") { _, errors in
            #expect(errors.contains("jacquard2mqtt: Not found; no unknown tag is received"))
        }
    }

    @Test("do not ask to hold the button of a connected tag")
    func connectedTag() async throws {
        try await pairing("0001", tags: #"{"known":[{"serial":"0001","state":"connected"}],"seen":[]}"#) {
            code, errors in
            #expect(code == .done)
            #expect(!errors.contains { $0.contains("button") })
        }
    }

    /// Pairs with a bridge that has these tags.
    private func pairing(
        _ serial: String, tags: String, error: String? = nil, _ check: @Sendable (ExitCode, [String]) -> Void
    ) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(broker)
            bridge.answer(
                "bridge/attic/request/tags",
                [("bridge/attic/response/tags", #"{"id":"ID","status":"ok","final":true,"data":\#(tags)}"#)])
            let result =
                error.map { #""status":"error","error":{"code":"\#($0)","text":"Not found"}"# }
                ?? #""status":"ok","data":{}"#
            bridge.answer(
                "bridge/attic/request/pair", [("bridge/attic/response/pair", #"{"id":"ID","final":true,\#(result)}"#)])
            let written = Written()
            let command = PairCommand(serial: serial, timeout: .seconds(5))
            let code = await ClientAction.perform(command, .test(broker.port, written))
            check(code, written.lines(.standardError))
            await bridge.stop()
        }
    }

    @Test("report that they were interrupted, and exit with 1", arguments: [false, true])
    func interrupted(isPairing: Bool) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(broker)
            let written = Written()
            let interruption = Interruption()
            let request: any ClientCommand = isPairing ? PairCommand(serial: "0001", timeout: .seconds(60)) : Self.red
            async let code = ClientAction.perform(
                request, .test(broker.port, written, isJSON: true, interruption: interruption))
            let topic = isPairing ? "jacquard/bridge/attic/request/pair" : "jacquard/tag/0001/led/set"
            try await until("the request") { bridge.requests.contains { $0.topic == topic } }
            interruption.fire()
            #expect(await code == .failed)
            #expect(written.document["error"]?["code"] == "interrupted")
            #expect(
                written.lines(.standardError).last
                    == (isPairing
                        ? "jacquard2mqtt: Interrupted; the bridge continues to look for the tag until the time limit"
                        : "jacquard2mqtt: Interrupted"))
            await bridge.stop()
        }
    }

    @Test("forget by the tag's id, which is the id of the result as well")
    func forget() async throws {
        let answers = [("bridge/attic/response/forget", #"{"id":"0001","status":"ok","final":true,"data":{}}"#)]
        try await asking(ForgetCommand(id: "0001"), of: "bridge/attic/request/forget", answers) { code, written in
            #expect(code == .done)
            #expect(written.lines(.standardOutput) == ["0001 is forgotten"])
        }
    }

    @Test("list the tags that a scan receives")
    func scan() async throws {
        let answers = [
            ("bridge/attic/response/scan", #"{"id":"ID","status":"ok","final":true,"data":{}}"#),
            (
                "bridge/attic/advertisement",
                #"{"address":"F0:00:00:00:00:01","serial":"0001","name":"Tag","rssi":-50,"known":true}"#
            ),
            ("bridge/attic/scan", #"{"scanning":false,"until":null}"#),
        ]
        try await asking(
            ScanCommand(duration: .seconds(20)), isJSON: true, of: "bridge/attic/request/scan", answers
        ) { code, written in
            #expect(code == .done)
            #expect(written.document["source"] == "bridge")
            #expect(written.document["tags"]?.elements?.map { $0["serial"] } == ["0001"])
        }
    }

    @Test("list the tags of the bridge")
    func tags() async throws {
        let data =
            #"{"known":[{"id":"a","serial":"0001","state":"connected","rssi":-50,"last_seen":"1970-01-01T00:00:00.000Z"}],"seen":[]}"#
        let answers = [("bridge/attic/response/tags", #"{"id":"ID","status":"ok","final":true,"data":\#(data)}"#)]
        try await asking(TagsCommand(), of: "bridge/attic/request/tags", answers) { code, written in
            #expect(code == .done)
            #expect(
                written.lines(.standardOutput) == [
                    "ID  SERIAL  NAME  ADDRESS  STATE      RSSI  LAST SEEN",
                    "a   0001    -     -        connected  -50   now",
                ])
        }
    }

    private func asking(
        _ request: any ClientCommand, isJSON: Bool = false, of topic: String = "tag/0001/led/set",
        _ answers: [(String, String)], _ check: @LoopActor @Sendable (ExitCode, Written) -> Void
    ) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(broker)
            bridge.answer(topic, answers.map { (topic: $0.0, payload: $0.1) })
            let written = Written()
            check(await ClientAction.perform(request, .test(broker.port, written, isJSON: isJSON)), written)
            await bridge.stop()
        }
    }
}
