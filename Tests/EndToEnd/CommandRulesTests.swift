import EventLoop
import Foundation
import MQTTTypes
import TestSupport
import Testing

@Suite("Every command")
struct CommandRulesTests {
    private static let led = "jacquard/tag/0001/led/set"
    private static let ledResult = "jacquard/tag/0001/led/result"

    @Test("repeated with its id gets the stored result, and is executed once")
    func repetition() async throws {
        try await inWorld { world in
            try await world.connected()
            let first = try await world.command(Self.led, #"{"id":"abc-1","flash":1}"#)
            #expect(first["id"] as? String == "abc-1")
            _ = try await world.command(Self.led, #"{"id":"abc-1","flash":1}"#)
            let results = world.observer.payloads(of: Self.ledResult)
            #expect(results.count == 2 && results[0] == results[1])
            try await world.settled()
            try await until("the report of the simulator") { world.told("led").count == 1 }
            _ = try await world.command(Self.led, #"{"id":"abc-2","flash":1}"#)
            try await until("the report of the simulator") { world.told("led").count == 2 }
        }
    }

    @Test("repeated while it is pending is executed once, with two results")
    func repetitionUnderWay() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("fault 0001 delay 2000 once")
            for _ in 1...2 { try world.observer.publish(Self.led, #"{"id":"abc","flash":1}"#) }
            try await until("two results") { world.finals(Self.ledResult).count == 2 }
            #expect(world.finals(Self.ledResult).allSatisfy { $0["status"] as? String == "ok" })
            try await world.settled()
            try await until("the report of the simulator") { world.told("led").count == 1 }
        }
    }

    @Test("is accepted after a quarter of a second, and has its final result later")
    func accepted() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.settled()
            try await world.simulate("fault 0001 delay 3000 once")
            let final = try await world.command(Self.led, #"{"id":"slow","flash":1}"#)
            let results = world.results(Self.ledResult)
            #expect(results.map { $0["status"] as? String } == ["accepted", "ok"])
            #expect(results.map { $0["final"] as? Bool } == [false, true])
            #expect(results.map { $0["id"] as? String } == ["slow", "slow"])
            #expect((250..<3000).contains(try #require(results[0]["took_ms"] as? Int)))
            #expect(try #require(final["took_ms"] as? Int) >= 3000)
        }
    }

    @Test("of MQTT 5 has its result on the response topic too, with the correlation data")
    func responseTopic() async throws {
        try await inWorld { world in
            try await world.connected()
            for payload in ["flash", "nonsense"] {
                world.observer.forget()
                let message = MQTTMessage(
                    topic: Self.led, payload: Array(payload.utf8), qos: .atLeastOnce, responseTopic: "my/answers",
                    correlationData: [0, 1, 255])
                _ = try await world.command(message)
                try await until("the answer") { world.observer.latest("my/answers") != nil }
                let answers = world.observer.messages.filter { $0.topic == "my/answers" }
                #expect(answers.map(\.correlationData) == [[0, 1, 255]])
                #expect(world.observer.payloads(of: "my/answers") == world.observer.payloads(of: Self.ledResult))
            }
        }
    }

    @Test("of MQTT 5 waits for its tag until the message expires")
    func messageExpiry() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("out-of-range 0001")
            try await until("it is away") { world.observer.latest("jacquard/tag/0001/availability") == "offline" }
            let message = MQTTMessage(
                topic: Self.led, payload: Array("flash".utf8), qos: .atLeastOnce, messageExpirySeconds: 1)
            let result = try await world.command(message)
            #expect(World.code(of: result) == "expired")
            #expect((1000..<3000).contains(try #require(result["took_ms"] as? Int)))
        }
    }

    @Test("may have at most 4 KiB")
    func length() async throws {
        try await inWorld { world in
            try await world.connected()
            let frame = #"{"flash":1,"comment":""}"#
            let payload = #"{"flash":1,"comment":""# + String(repeating: "x", count: 4096 - frame.utf8.count) + #""}"#
            #expect(payload.utf8.count == 4096)
            try await world.succeeds(Self.led, payload)
            let result = try await world.command(Self.led, payload + " ")
            #expect(World.code(of: result) == "payload_too_large")
            try await until("the report of the simulator") { world.told("led").count == 1 }
        }
    }

    @Test("after 32 pending ones of its tag is refused as busy; those are executed when the tag connects")
    func busy() async throws {
        try await inWorld(tags: 2) { world in
            try await world.connected(1...2)
            try await world.simulate("out-of-range 0001")
            try await until("it is away") { world.observer.latest("jacquard/tag/0001/availability") == "offline" }
            for number in 1...33 {
                try world.observer.publish(Self.led, #"{"id":"\#(number)","flash":1,"ttl_ms":60000}"#)
            }
            try await until("the refusal") { !world.finals(Self.ledResult).isEmpty }
            #expect(World.code(of: world.finals(Self.ledResult)[0]) == "busy")
            #expect(world.finals(Self.ledResult)[0]["id"] as? String == "33")
            try await world.succeeds("jacquard/tag/0002/led/set", "flash")
            try await world.simulate("in-range 0001")
            try await until("the results of all") { world.finals(Self.ledResult).count == 33 }
            let ids = world.finals(Self.ledResult).dropFirst().map { $0["id"] as? String }
            #expect(ids == (1...32).map { "\($0)" })
            #expect(world.finals(Self.ledResult).dropFirst().allSatisfy { $0["status"] as? String == "ok" })
            try await until("the tag's report of each") {
                world.told("led").filter { $0["tag"] as? String == "0001" }.count == 32
            }
        }
    }

    @Test("that is retained is refused each time the broker delivers it")
    func retained() async throws {
        let commands = [
            ("jacquard/tag/0001/led/set", "flash"), ("jacquard/tag/0001/haptic/set", "short"),
            ("jacquard/tag/0001/name/set", "Else"), ("jacquard/tag/0001/touch_mode/set", "continuous"),
            ("jacquard/tag/0001/battery/get", "{}"), ("jacquard/tag/0001/config/get", #"{"key":"k"}"#),
            ("jacquard/tag/0001/connection/set", "disconnect"), ("jacquard/tag/0001/sleep/set", "{}"),
            (World.bridge + "/request/forget", "0001"), (World.bridge + "/request/scan", "{}"),
            (World.bridge + "/request/log_level", "error"),
        ]
        try await inWorld { world in
            try await world.connected()
            for (topic, payload) in commands {
                let result = try await world.command(topic, payload, isRetained: true)
                #expect(World.code(of: result) == "retained_rejected", "\(topic)")
            }
            try await world.stopAndStartDaemon()
            try await world.connected()
            for (topic, _) in commands {
                let result = World.resultTopic(topic)
                try await until("the refusal of \(topic)") { !world.finals(result).isEmpty }
                #expect(world.finals(result).allSatisfy { World.code(of: $0) == "retained_rejected" }, "\(topic)")
            }
            #expect(world.told("led", "haptic", "renamed", "disconnect").isEmpty)
        }
    }
}
