import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Connection intent of a tag")
struct LinkCommandTests {
    private static let topic = "jacquard/tag/0001/connection/set"

    @Test("connection/set disconnects until connect, also after a restart of the bridge")
    func hold() async throws {
        try await inWorld { world in
            try await world.connected()
            let gone = try await world.succeeds(Self.topic, "disconnect")
            #expect(gone["state"] as? String == "disconnected")
            #expect(world.observer.latest("jacquard/tag/0001/availability") == "offline")
            try await world.stopAndStartDaemon()
            let refused = try await world.command("jacquard/tag/0001/led/set", "flash")
            #expect(World.code(of: refused) == "not_permitted")
            try await until("the report of the simulator") { world.told("connected").count == 1 }
            let back = try await world.succeeds(Self.topic, "connect")
            #expect(back["state"] as? String == "connected")
            try await until("it is back") { world.isConnected("0001") }
            #expect(world.told("led").isEmpty)
        }
    }

    @Test("a connecting tag reports the steps of the SDK in order, and then connected")
    func steps() async throws {
        try await inWorld { world in
            try await world.connected()
            let told = world.results("jacquard/tag/0001/connection")
            let states = told.compactMap { $0["state"] as? String }
            let order = ["preparing_to_connect", "connecting", "initializing", "configuring", "connected"]
            #expect(states.compactMap(order.firstIndex) == states.compactMap(order.firstIndex).sorted())
            #expect(states.last == "connected")
            let steps = told.compactMap { $0["step"] as? Int }
            #expect(!steps.isEmpty && steps == steps.sorted() && steps.allSatisfy((0...10).contains))
            #expect(told.allSatisfy { ($0["step"] is Int) == ($0["of"] as? Int == 14) })
        }
    }

    @Test("an invalid connection/set is refused")
    func nonsense() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.refuses(
                Self.topic,
                [
                    ("", "invalid_argument"), ("maybe", "invalid_argument"), ("{", "invalid_json"),
                    (#"{"connection":true}"#, "invalid_argument"), ("connect now", "invalid_json"),
                ])
            #expect(world.isConnected("0001"))
            #expect(world.told("disconnected").isEmpty)
        }
    }

    @Test("connection/set of the current state succeeds immediately")
    func repeated() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.succeeds(Self.topic, "connect")
            try await until("the report of the simulator") { world.told("connected").count == 1 }
            try await world.succeeds(Self.topic, "disconnect")
            try await world.succeeds(Self.topic, "disconnect")
            // BlueZ answers before the simulator prints what its tag has noticed.
            try await until("the end of the link") { world.told("disconnected").count == 1 }
        }
    }

    @Test("a tag on demand is available without a link, and connected by the first command")
    func onDemand() async throws {
        let plan = WorldPlan(tagList: "  - serial: 0001\n    connect: on_demand")
        try await inWorld(plan) { world in
            try await until("it is available") { world.observer.latest("jacquard/tag/0001/availability") == "online" }
            try await until("it is told to rest") {
                world.observer.document("jacquard/tag/0001/connection")["state"] as? String == "disconnected"
            }
            #expect(world.told("connected").isEmpty)
            let data = try await world.succeeds("jacquard/tag/0001/battery/get")
            #expect(data["level"] is Int)
            try await until("the report of the simulator") { world.told("connected").count == 1 }
            try await world.succeeds("jacquard/tag/0001/battery/get")
            try await until("the report of the simulator") { world.told("connected").count == 1 }
        }
    }

    @Test("a command to an absent on-demand tag expires")
    func onDemandAway() async throws {
        let plan = WorldPlan(tagList: "  - serial: 0001\n    connect: on_demand")
        try await inWorld(plan) { world in
            try await world.simulate("out-of-range 0001")
            let result = try await world.command("jacquard/tag/0001/led/set", #"{"state":"ON","ttl_ms":500}"#)
            #expect(World.code(of: result) == "expired")
            let atOnce = try await world.command("jacquard/tag/0001/led/set", #"{"state":"ON","ttl_ms":0}"#)
            #expect(World.code(of: atOnce) == "tag_offline")
        }
    }

    @Test("a tag with connect: never is never connected")
    func never() async throws {
        let plan = WorldPlan(tags: 2, tagList: "  - serial: 0001\n    connect: never\n  - serial: 0002")
        try await inWorld(plan) { world in
            try await world.connected(2...2)
            #expect(world.observer.latest("jacquard/tag/0001/availability") == "offline")
            for (topic, payload) in [("led/set", "flash"), ("battery/get", ""), ("connection/set", "connect")] {
                let result = try await world.command("jacquard/tag/0001/\(topic)", payload)
                #expect(World.code(of: result) == "not_permitted", "\(topic)")
            }
            #expect(world.told("connected").allSatisfy { $0["tag"] as? String == "0002" })
        }
    }
}
