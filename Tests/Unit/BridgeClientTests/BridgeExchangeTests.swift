import Bridge
import BrokerAccess
import JSON
import MQTTTypes
import Terminal
import Testing

@testable import BridgeClient
@testable import CommandLine

@Suite("Requests to the bridge")
struct BridgeExchangeTests {
    private static let topics = BridgeTopics(.test(1883))
    private static let exchange = BridgeExchange(
        request: ClientRequest(verb: "pair", ["id": "r-1", "serial": "0001"], topics), topics: topics, answers: "mine")

    @Test(
        "recognizes the messages that belong to the request",
        arguments: [
            ("jacquard/bridge/attic/response/pair", #"{"id":"r-1","status":"accepted"}"#, .accepted),
            ("jacquard/bridge/attic/response/pair", #"{"id":"r-2","status":"accepted"}"#, .none),
            ("jacquard/bridge/attic/response/pair", "nonsense", .none),
            ("jacquard/bridge/attic/response/pair", #"{"id":"r-1","status":"odd"}"#, .none),
            ("jacquard/bridge/attic/response/forget", #"{"id":"r-1","status":"ok"}"#, .none),
            (
                "jacquard/bridge/attic/response/pair", #"{"id":"r-1","status":"ok"}"#,
                .done(["id": "r-1", "status": "ok"])
            ),
            ("mine", #"{"id":"r-1","status":"ok"}"#, .done(["id": "r-1", "status": "ok"])),
            ("jacquard/bridge/attic/state", "offline", .failed(.bridgeOffline("attic"))),
            ("jacquard/bridge/attic/state", "online", .none),
            (
                "jacquard/bridge/attic/event", #"{"type":"pair_found","serial":"0001","address":"F0"}"#,
                .stage("found it at F0")
            ),
            ("jacquard/bridge/attic/event", #"{"type":"pair_pairing","serial":"0001"}"#, .stage("pairing")),
            ("jacquard/bridge/attic/event", #"{"type":"pair_failed","serial":"0001","text":"No"}"#, .none),
            ("jacquard/bridge/attic/event", #"{"type":"pair_started","serial":"0001"}"#, .none),
            ("jacquard/bridge/attic/event", #"{"type":"pair_found","serial":"0002"}"#, .none),
            ("jacquard/bridge/attic/event", #"{"type":"adapter_lost"}"#, .none),
        ] as [(String, String, BridgeExchange.Step)])
    func step(topic: String, payload: String, step: BridgeExchange.Step) {
        #expect(Self.exchange.received(MQTTMessage(topic: topic, payload: Array(payload.utf8))) == step)
    }

    @Test("recognizes an answer by its correlation data, and ignores retained messages")
    func correlation() {
        var message = MQTTMessage(topic: "mine", payload: Array(#"{"id":null,"status":"accepted"}"#.utf8))
        #expect(Self.exchange.received(message) == .none)
        message.correlationData = Array("r-1".utf8)
        #expect(Self.exchange.received(message) == .accepted)
        message.isRetained = true
        #expect(Self.exchange.received(message) == .none)
    }

    @Test("an error keeps code, text and hint")
    func error() {
        let payload = #"{"id":"r-1","status":"error","error":{"code":"timeout","text":"Too late","hint":"Again"}}"#
        let failure = ClientFailure(exitCode: .failed, code: "timeout", text: "Too late", hint: "Again")
        let message = MQTTMessage(topic: "mine", payload: Array(payload.utf8))
        #expect(Self.exchange.received(message) == .failed(failure))
    }

    @Test("a command that has expired names the time in seconds, and how to wait longer")
    func expired() throws {
        let order = TagOrder(
            tags: TagOperand(["1"]), command: "led", payload: ["state": "OFF"], lifetime: .milliseconds(1_500))
        let request = order.request("1", Self.topics)
        #expect(request.payload["ttl_ms"] == 1500 && request.patience == .milliseconds(31_500))
        #expect(request.waitsFor == "the tag 1, at most 1.5 s")
        let usual = TagOrder(tags: TagOperand(["1"]), command: "led").request("1", Self.topics)
        #expect(usual.payload["ttl_ms"] == nil && usual.waitsFor == "the tag 1, at most 10 s")
        let text = "Tag 1 did not become reachable within ttl_ms (1500); nothing was sent"
        let error = #"{"code":"expired","text":"\#(text)","hint":"last seen 2 s ago"}"#
        let payload = #"{"id":"\#(request.id)","status":"error","error":\#(error)}"#
        let exchange = BridgeExchange(request: request, topics: Self.topics, answers: "mine")
        let failure = ClientFailure(
            exitCode: .failed, code: "expired", text: "Tag 1 did not become reachable within 1.5 s; nothing was sent",
            hint: "last seen 2 s ago; --wait SECONDS waits longer")
        #expect(exchange.received(MQTTMessage(topic: "mine", payload: Array(payload.utf8))) == .failed(failure))
    }

    @Test(
        "an error of a command to a tag names commands and operands in place of topics and keys",
        arguments: [
            ("Send stop to imu/set", "Run jacquard2mqtt imu stop 0001"),
            ("Send stop to imu/set first", "Run jacquard2mqtt imu stop 0001 first"),
            ("modules/get lists its modules", "jacquard2mqtt modules 0001 lists its modules"),
            ("imu/sessions/get lists them", "jacquard2mqtt imu sessions 0001 lists them"),
            (
                "jacquard/tag/0001/gear lists what the attached gear can do",
                "jacquard2mqtt status --json lists what the attached gear can do"
            ),
            ("Charge the tag", "Charge the tag"),
        ])
    func commands(hint: String, typed: String) {
        let request = ClientRequest("notify", of: "0001", [:], Self.topics)
        let exchange = BridgeExchange(request: request, topics: Self.topics, answers: "mine")
        let text = #"\"signal\" is \"foo\"; it may be default"#
        let error = #"{"code":"busy","text":"\#(text)","hint":"\#(hint)"}"#
        let payload = #"{"id":"\#(request.id)","status":"error","error":\#(error)}"#
        let failure = ClientFailure(
            exitCode: .failed, code: "busy", text: #"SIGNAL is "foo"; it may be default"#, hint: typed)
        #expect(exchange.received(MQTTMessage(topic: "mine", payload: Array(payload.utf8))) == .failed(failure))
    }

    @Test("each request has its own id")
    func identifiers() {
        let ids = (1...100).map { _ in ClientRequest(verb: "tags", [:], Self.topics).id }
        #expect(Set(ids).count == 100)
    }
}
