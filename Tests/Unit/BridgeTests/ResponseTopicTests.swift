import MQTTTypes
import Testing

@testable import Bridge

@Suite("Response topic")
struct ResponseTopicTests {
    private static func message(
        _ response: String?, topic: String = "jacquard/tag/003R/led/set", payload: String = #"{"state":"ON","id":"a"}"#,
        correlation: [UInt8]? = [7]
    ) -> MQTTMessage {
        MQTTMessage(
            topic: topic, payload: Array(payload.utf8), responseTopic: response, correlationData: correlation)
    }

    @Test(
        "of a command must be one that the sender could publish to",
        arguments: [
            "", "$SYS/broker", "$share/a/b", "a/+", "#", "a#", "a\u{0}", "a\u{7}", "a\u{85}", "a\u{FFFD}", "a\u{FFFE}",
            "jacquard", "jacquard/", "jacquard/tag/003R/led/set", "jacquard/tag/003R/led/result",
            "jacquard/bridge/attic/request/forget", "jacquard/bridge/other/state", "jacquard/\u{301}x",
            "jacquard/client", "jacquard/client/", "jacquard/client/me", "jacquard/client//answer",
            "jacquard/client/me/",
            "homeassistant", "homeassistant/status", "homeassistant/device/jacquard_tag_003R/config",
            String(repeating: "/", count: 64), String(repeating: "a", count: 257), String(repeating: "é", count: 129),
        ])
    func refused(topic: String) {
        let scene = Scene.connected()
        scene.receive(Self.message(topic))
        #expect(scene.performed == [])
        #expect(scene.results.map(\.error?.code) == ["invalid_argument"])
        #expect(scene.publications.last?.topic == "jacquard/tag/003R/led/result")
        #expect(scene.results.last?.id == "a")
    }

    @Test(
        "gets the result on any topic that a sender could publish to",
        arguments: [
            "a", "me/answers", "jacquar", "jacquard2/x", "Jacquard/tag", "jacquard/client/me/response",
            "jacquard/client/me/a/b", "homeassistant2/x", "/", "é/ü", "a b",
            String(repeating: "/", count: 63), String(repeating: "a", count: 256), String(repeating: "é", count: 128),
        ])
    func accepted(topic: String) {
        let scene = Scene.connected()
        scene.receive(Self.message(topic))
        scene.answer()
        #expect(scene.performed.count == 1)
        let results = scene.publications.filter { if case .result = $0.kind { true } else { false } }
        #expect(results.map(\.topic) == ["jacquard/tag/003R/led/result", topic])
        #expect(results.map(\.message.correlationData) == [nil, [7]])
    }

    @Test("that is refused does not store a result for the id")
    func repeated() {
        let scene = Scene.connected()
        scene.receive(Self.message("jacquard/bridge/attic/request/forget"))
        scene.receive(Self.message("me"))
        scene.answer()
        #expect(scene.results.map(\.status) == ["error", "ok", "ok"])
    }

    @Test("is refused for a result that is stored already, and for a request to the bridge")
    func stored() {
        let scene = Scene.connected()
        scene.receive(Self.message("me"))
        scene.answer()
        scene.receive(Self.message("jacquard/bridge/attic/request/forget"))
        #expect(scene.results.last?.error?.code == "invalid_argument")
        _ = scene.takeActions()
        scene.receive(Self.message("jacquard/x", topic: "jacquard/bridge/attic/request/health", payload: ""))
        #expect(scene.lastError?.code == "invalid_argument")
        #expect(scene.publications.last?.topic == "jacquard/bridge/attic/response/health")
        #expect(scene.takeActions() == [])
    }

    @Test("of a retained command is not used either")
    func retained() {
        let scene = Scene.connected()
        var message = Self.message("jacquard/bridge/attic/request/forget")
        message.isRetained = true
        scene.receive(message)
        #expect(scene.results.map(\.error?.code) == ["retained_rejected"])
    }

    @Test("is allowed with at most 4,096 bytes of correlation data", arguments: [(4_096, true), (4_097, false)])
    func correlation(count: Int, isGood: Bool) {
        let scene = Scene.connected()
        scene.receive(Self.message("me", correlation: [UInt8](repeating: 1, count: count)))
        #expect(scene.performed.isEmpty == !isGood)
        #expect(isGood || scene.results.allSatisfy { $0.error?.code == "invalid_argument" })
        #expect(isGood || scene.publications.allSatisfy { $0.topic != "me" })
    }
}
