import EventLoop
import Foundation
import MQTTTypes
import TestSupport
import Testing

@Suite("A tag on MQTT")
struct FirstLightTests {
    private static let gesture = "jacquard/tag/0001/gesture"

    @Test("is connected, with its facts retained")
    func connects() async throws {
        try await inWorld { world in
            try await world.connected()
            let late = try await Observer(port: world.broker.port)
            try await until("the retained topics") { late.latest("jacquard/tag/0001/info") != nil }
            #expect(late.latest("jacquard/tag/0001/availability") == "online")
            #expect(late.document("jacquard/tag/0001/connection")["state"] as? String == "connected")
            #expect(late.document("jacquard/tag/0001/gear")["product"] as? String == "Trucker Jacket")
            #expect(late.document("jacquard/tag/0001/info")["serial"] as? String == "0001")
            #expect(late.latest("jacquard/tag/0001/battery/level").flatMap(Int.init) != nil)
            #expect(late.latest(Self.gesture) == nil)
            #expect(late.messages.allSatisfy { $0.isRetained })
            await late.stop()
        }
    }

    @Test("reports each gesture once, by descriptor and by signal", arguments: [[], ["--no-acquire"]])
    func gestures(options: [String]) async throws {
        try await inWorld(options: options) { world in
            try await world.connected()
            let names = ["double_tap", "brush_in", "brush_out", "cover", "brush_up", "brush_down"]
            for name in names { world.simulator.type("gesture 0001 \(name)") }
            try await until("six gestures") { world.observer.payloads(of: Self.gesture).count >= 6 }
            let events = world.observer.payloads(of: Self.gesture).map(Observer.object)
            #expect(events.compactMap { $0["event_type"] as? String } == names)
            #expect(events.compactMap { $0["seq"] as? Int } == Array(1...6))
            #expect(events.allSatisfy { $0["bridge"] as? String == World.instance })
        }
    }

    @Test("plays an LED pattern and publishes the state")
    func led() async throws {
        try await inWorld { world in
            try await world.connected()
            let result = try await world.command("jacquard/tag/0001/led/set", "flash")
            #expect(result["status"] as? String == "ok")
            try await until("the tag was told") { !world.told("led").isEmpty }
            try await until("the report of the simulator") { world.told("led").count == 1 }
            #expect(world.told("led").first?["color"] as? String == "#ffffff")
            try await until("the light was on, and is off after its second") {
                let states = world.observer.payloads(of: "jacquard/tag/0001/led")
                    .map { Observer.object($0)["state"] as? String }
                return states.contains("ON") && states.last == "OFF"
            }
        }
    }

    @Test("vibrates")
    func haptic() async throws {
        try await inWorld { world in
            try await world.connected()
            let result = try await world.command("jacquard/tag/0001/haptic/set", "short")
            #expect(result["status"] as? String == "ok")
            try await until("the tag was told") { world.told("haptic").count == 1 }
        }
    }

    @Test("delivers 1,000 gestures completely and in order while 19 others are connected")
    func burst() async throws {
        try await inWorld(tags: 20) { world in
            try await world.connected(1...20)
            world.simulator.type("gesture 0007 cycle 1000")
            try await until("a thousand gestures", within: .seconds(60)) {
                world.observer.payloads(of: "jacquard/tag/0007/gesture").count >= 1000
            }
            let events = world.observer.payloads(of: "jacquard/tag/0007/gesture").map(Observer.object)
            #expect(events.compactMap { $0["seq"] as? Int } == Array(1...1000))
        }
    }

    @Test("rejects invalid commands without sending them to the tag")
    func invalidCommands() async throws {
        try await inWorld(tags: 2) { world in
            try await world.connected(1...2)
            world.simulator.type("detach 0002")
            try await until("no gear") {
                world.observer.document("jacquard/tag/0002/gear")["attached"] as? Bool == false
            }
            let long = String(repeating: "x", count: 4097)
            let cases: [(String, String, Bool, String)] = [
                ("0001/led/set", "{", false, "invalid_json"),
                ("0001/led/set", "{\"pattern\":\"blinky\"}", false, "invalid_argument"),
                ("0001/led/set", "{\"color\":\"red-ish\"}", false, "invalid_argument"),
                ("0001/led/set", "{\"color\":{\"r\":256,\"g\":0,\"b\":0}}", false, "invalid_argument"),
                ("0001/led/set", "{\"duration_ms\":-1}", false, "invalid_argument"),
                ("0001/led/set", "{\"component\":\"shoe\"}", false, "invalid_argument"),
                ("0001/led/set", long, false, "payload_too_large"),
                ("0001/led/set", "flash", true, "retained_rejected"),
                ("0001/led/set", "{\"state\":\"ON\",\"component\":\"gear\"}", false, "unsupported"),
                ("0002/led/set", "{\"state\":\"ON\",\"component\":\"gear\"}", false, "unsupported"),
                ("0002/haptic/set", "short", false, "unsupported"),
                ("0001/haptic/set", "{\"amplitude\":101}", false, "invalid_argument"),
                ("9999/led/set", "flash", false, "unknown_tag"),
                ("0001/laser/set", "on", false, "unknown_command"),
            ]
            for (topic, payload, isRetained, code) in cases {
                let result = try await world.command("jacquard/tag/\(topic)", payload, isRetained: isRetained)
                let error = result["error"] as? [String: Any]
                #expect(error?["code"] as? String == code, "\(topic) \(payload.prefix(40))")
                #expect(error?["text"] is String && error?["hint"] != nil && error?["retryable"] is Bool)
            }
            #expect(world.told("led").isEmpty)
            #expect(world.told("haptic").isEmpty)
        }
    }

    @Test("that is absent rejects a command immediately or when it expires")
    func away() async throws {
        try await inWorld { world in
            try await world.connected()
            world.simulator.type("out-of-range 0001")
            try await until("it is away") { world.observer.latest("jacquard/tag/0001/availability") == "offline" }
            let atOnce = try await world.command("jacquard/tag/0001/led/set", #"{"state":"ON","ttl_ms":0}"#)
            #expect((atOnce["error"] as? [String: Any])?["code"] as? String == "tag_offline")
            let later = try await world.command("jacquard/tag/0001/led/set", #"{"state":"ON","ttl_ms":300}"#)
            #expect((later["error"] as? [String: Any])?["code"] as? String == "expired")
            world.simulator.type("in-range 0001")
            try await until("it is back") { world.isConnected("0001") }
            #expect(world.told("led").isEmpty)
        }
    }
}
