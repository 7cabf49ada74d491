import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("The configuration of a tag")
struct ConfiguredTagTests {
    @Test("its id is used in topics, and its name for display")
    func idAndName() async throws {
        let plan = WorldPlan(tagList: "  - serial: 0001\n    id: sleeve\n    name: Left sleeve")
        try await inWorld(plan) { world in
            try await until("it is connected") { world.isConnected("sleeve") }
            try await until("it has told its name") {
                world.observer.document("jacquard/tag/sleeve/info")["firmware"] is String
            }
            let info = world.observer.document("jacquard/tag/sleeve/info")
            #expect(info["id"] as? String == "sleeve")
            #expect(info["serial"] as? String == "0001")
            #expect(info["name"] as? String == "Left sleeve")
            #expect(info["tag_name"] is String)
            try await world.succeeds("jacquard/tag/sleeve/name/set", "Its own")
            try await until("it is back under its own new name") {
                world.isConnected("sleeve")
                    && world.observer.document("jacquard/tag/sleeve/info")["tag_name"] as? String == "Its own"
            }
            #expect(world.observer.document("jacquard/tag/sleeve/info")["name"] as? String == "Left sleeve")
            #expect(World.code(of: try await world.command("jacquard/tag/0001/led/set", "flash")) == "unknown_tag")
        }
    }

    @Test("its address is the only one used")
    func address() async throws {
        let list = """
              - serial: 0001
                address: F0:00:00:00:00:01
              - serial: 0002
                address: F0:00:00:00:00:99
            """
        try await inWorld(WorldPlan(tags: 2, tagList: list, settings: "bluetooth:\n  connect_timeout_s: 1")) { world in
            try await world.connected()
            try await until("the other one is missed") {
                let error = world.observer.document("jacquard/tag/0002/connection")["error"] as? [String: Any]
                return error?["code"] is String
            }
            let error = try #require(world.observer.document("jacquard/tag/0002/connection")["error"] as? [String: Any])
            let code = try #require(error["code"] as? String)
            #expect(["connection_timeout", "bluetooth_device_not_found"].contains(code))
            #expect(error["hint"] is String && error["text"] is String)
            #expect(world.told("connected").allSatisfy { $0["tag"] as? String == "0001" })
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
        }
    }

    @Test("a missing tag is reported after the configured time, and connected when it appears")
    func missing() async throws {
        try await inWorld(WorldPlan(tags: 2, settings: "bluetooth:\n  connect_timeout_s: 1")) { world in
            try await world.connected(1...2)
            try await world.simulate("out-of-range 0002")
            try await until("it is missed") {
                let document = world.observer.document("jacquard/tag/0002/connection")
                return (document["error"] as? [String: Any])?["code"] as? String == "connection_timeout"
                    && (document["attempt"] as? Int ?? 0) > 2
            }
            #expect(world.observer.latest("jacquard/tag/0002/availability") == "offline")
            try await world.simulate("in-range 0002")
            try await world.connected(1...2)
            #expect(world.observer.document("jacquard/tag/0002/connection")["error"] is NSNull)
        }
    }

    @Test("led_on sets how long \"on\" lasts")
    func ledOn() async throws {
        try await inWorld(settings: "defaults:\n  led_on_s: 0.5") { world in
            try await world.connected()
            try await world.succeeds(
                "jacquard/tag/0001/led/set", #"{"state":"ON","color":{"r":255,"g":0,"b":0},"brightness":128}"#)
            #expect(world.told("led").first?["duration_ms"] as? Int == 500)
            try await until("it is dark") {
                world.observer.document("jacquard/tag/0001/led")["state"] as? String == "OFF"
            }
            try await world.succeeds("jacquard/tag/0001/led/set", "on")
            #expect(world.told("led").map { $0["color"] as? String } == ["#800000", "#800000"])
        }
    }

    @Test("limits the number of pending commands")
    func limit() async throws {
        try await inWorld(settings: "limits:\n  commands_per_tag: 2") { world in
            try await world.connected()
            try await world.simulate("fault 0001 delay 3000 once")
            for number in 1...3 {
                try world.observer.publish("jacquard/tag/0001/led/set", #"{"id":"\#(number)","flash":1}"#)
            }
            try await until("three results") { world.finals("jacquard/tag/0001/led/result").count == 3 }
            let results = world.finals("jacquard/tag/0001/led/result")
            #expect(results.map { $0["id"] as? String } == ["3", "1", "2"])
            #expect(World.code(of: results[0]) == "busy")
            try await until("the report of the simulator") { world.told("led").count == 2 }
        }
    }
}
