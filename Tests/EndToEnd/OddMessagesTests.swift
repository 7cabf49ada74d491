import EventLoop
import Foundation
import MQTTTypes
import TestSupport
import Testing

@Suite("Unexpected messages")
struct OddMessagesTests {
    @Test("are rejected with one result, or ignored")
    func odd() async throws {
        let refused: [(topic: String, payload: [UInt8], code: String)] = [
            ("jacquard/tag/0001/led/set", [0xFF, 0xFE], "invalid_json"),
            ("jacquard/tag/0001/led/set", [0x7B, 0x00, 0x7D], "invalid_json"),
            ("jacquard/tag/0001/led/set", [UInt8](repeating: 0x5B, count: 4096), "invalid_json"),
            ("jacquard/tag/0001/led/set", [UInt8](repeating: 0x20, count: 200_000), "payload_too_large"),
            ("jacquard/tag/0001/led/get", [], "unknown_command"),
            ("jacquard/tag/0001/laser/set", [], "unknown_command"),
            ("jacquard/tag/größe 7/led/set", Array("on".utf8), "unknown_tag"),
            ("jacquard/tag//led/set", Array("on".utf8), "unknown_tag"),
        ]
        let ignored = [
            "jacquard/tag/0001/led", "jacquard/tag/0001/set", "jacquard/tag/0001/led/set/now", "jacquard/tag/0001",
            "jacquard/bridge/other/request/scan", "jacquard", "other/tag/0001/led/set",
        ]
        try await inWorld { world in
            try await world.connected()
            for topic in ignored { try world.observer.publish(topic, "on") }
            for (topic, payload, code) in refused {
                let result = try await world.command(MQTTMessage(topic: topic, payload: payload, qos: .atLeastOnce))
                #expect(World.code(of: result) == code, "\(topic) \(payload.count)")
            }
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            try await until("the report of the simulator") { world.told("led").count == 1 }
            #expect(
                world.finals("jacquard/tag/0001/led/result").count == refused.count { $0.topic.contains("1/led") } + 1)
            #expect(world.observer.messages.allSatisfy { !$0.topic.hasPrefix("jacquard/bridge/other/response") })
        }
    }

    @Test("an id is a text of at most 64 bytes, and is returned unchanged")
    func id() async throws {
        let longest = String(repeating: "ü", count: 32)
        try await inWorld { world in
            try await world.connected()
            let topic = "jacquard/tag/0001/led/set"
            let good = try await world.command(topic, #"{"id":"\#(longest)","flash":1}"#)
            #expect(good["status"] as? String == "ok" && good["id"] as? String == longest)
            let bare = try await world.command(topic, "flash")
            #expect(bare["id"] is NSNull)
            try await world.refuses(
                topic,
                [
                    (#"{"id":"\#(longest)x","flash":1}"#, "invalid_argument"),
                    (#"{"id":{},"flash":1}"#, "invalid_argument"), (#"{"ttl_ms":1e99,"flash":1}"#, "invalid_argument"),
                ])
        }
    }

    @Test("a result holds all its keys")
    func keys() async throws {
        try await inWorld { world in
            try await world.connected()
            for payload in ["flash", "nonsense"] {
                let result = try await world.command("jacquard/tag/0001/led/set", payload)
                let keys: Set = ["id", "status", "final", "data", "error", "took_ms", "time", "bridge"]
                #expect(Set(result.keys) == keys)
                #expect(result["data"] is [String: Any])
                #expect(result["bridge"] as? String == World.instance)
                let time = try #require(result["time"] as? String)
                #expect(time.hasSuffix("Z") && time.utf8.count == "2026-11-20T10:15:02.114Z".utf8.count)
            }
        }
    }

    @Test("a gesture expires after five seconds for a subscriber of MQTT 5")
    func expiry() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("gesture 0001 77")
            try await until("a gesture") { world.observer.latest("jacquard/tag/0001/gesture") != nil }
            let message = try #require(world.observer.messages.last { $0.topic == "jacquard/tag/0001/gesture" })
            #expect(message.messageExpirySeconds == 5)
            #expect(!message.isRetained)
            let event = world.observer.document("jacquard/tag/0001/gesture")
            #expect(event["event_type"] as? String == "unknown")
            #expect(event["gesture"] as? Int == 77)
        }
    }
}
