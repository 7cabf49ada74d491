import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Two tags with one serial")
struct TwinTagTests {
    private static let options = ["--serials", "0001,0001"]

    @Test("are reported, and only one of them is connected")
    func reported() async throws {
        let plan = WorldPlan(tags: 2, options: Self.options, tagList: "  - serial: 0001")
        try await inWorld(plan) { world in
            try await world.connected()
            try await world.succeeds(World.bridge + "/request/scan", #"{"duplicates":true}"#)
            try await until("the event") { world.events("duplicate_serial").count == 1 }
            try await until("the problem") { world.problems == ["duplicate_serial"] }
            let other = try #require(world.events("duplicate_serial").first?["address"] as? String)
            #expect(world.observer.document("jacquard/tag/0001/info")["address"] as? String != other)
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            try await until("the report of the simulator") { world.told("connected").count == 1 }
            try await until("the report of the simulator") { world.told("led").count == 1 }
        }
    }

    @Test("at one address are one tag: the entry that is connected later is reported as unusable")
    func sameAddress() async throws {
        let list = "  - serial: 0001\n  - serial: 0002\n    address: F0:00:00:00:00:01\n    connect: on_demand"
        try await inWorld(WorldPlan(tagList: list)) { world in
            try await world.connected()
            try world.observer.publish("jacquard/tag/0002/connection/set", "connect")
            try await until("the second entry is refused") {
                world.connectionError("0002")["code"] as? String == "unconnectable_tag"
            }
            try await until("the problem is reported") { world.problems.contains("tag_unusable") }
            try await world.isOfUse()
        }
    }

    @Test("or with one id are a problem that names both, and only one of them has topics")
    func oneID() async throws {
        let list = "  - serial: 0001\n    id: \"0002\""
        try await inWorld(WorldPlan(tags: 2, options: ["--pairing"], tagList: "")) { world in
            try await world.succeeds(World.bridge + "/request/pair", "0002")
            try await until("the paired tag is connected") { world.isConnected("0002") }
            _ = try world.folder.write("config.yaml", WorldPlan(tagList: list).configuration(port: world.broker.port))
            try await world.stopAndStartDaemon()
            try await until("the problem of the paired one") { world.problems == ["id_taken"] }
            try await until("the configured one has the id") {
                world.observer.document("jacquard/tag/0002/info")["serial"] as? String == "0001"
            }
        }
    }

    @Test("or with one id by a reload are the same problem, which another reload ends")
    func oneIDByReload() async throws {
        let (taken, solved) = ("  - serial: 0001\n    id: \"0002\"", "  - serial: 0001\n    id: sleeve")
        try await inWorld(WorldPlan(tags: 2, options: ["--pairing"], tagList: "")) { world in
            try await world.succeeds(World.bridge + "/request/pair", "0002")
            try await until("the paired tag is connected") { world.isConnected("0002") }
            try await world.succeeds("jacquard/tag/0002/modules/get", "")
            try await until("its modules") { world.observer.latest("jacquard/tag/0002/modules")?.isEmpty == false }
            for _ in 1...2 {
                try await world.reload(WorldPlan(tagList: taken))
                try await until("the problem of the paired one") { world.problems == ["id_taken"] }
                try await until("the configured one has the id") {
                    world.observer.document("jacquard/tag/0002/info")["serial"] as? String == "0001"
                }
                try await until("no modules of the paired one") {
                    world.observer.latest("jacquard/tag/0002/modules") == ""
                }
                try await world.reload(WorldPlan(tagList: solved))
                try await until("no problem") { world.problems.isEmpty }
                try await until("the paired one has its id again, and is connected") {
                    world.observer.document("jacquard/tag/0002/info")["serial"] as? String == "0002"
                        && world.isConnected("0002")
                }
            }
        }
    }

    @Test("with separate entries are two tags, each with its own commands and events")
    func apart() async throws {
        let list = ["left", "right"].enumerated().map { index, id in
            "  - serial: 0001\n    id: \(id)\n    address: F0:00:00:00:00:0\(index + 1)"
        }
        let plan = WorldPlan(tags: 2, options: Self.options, tagList: list.joined(separator: "\n"))
        try await inWorld(plan) { world in
            try await until("both are connected") { world.isConnected("left") && world.isConnected("right") }
            for id in ["left", "right"] {
                try await world.succeeds(
                    "jacquard/tag/\(id)/config/set", #"{"key":"side","type":"string","value":"\#(id)"}"#)
            }
            for (id, address) in [("left", "F0:00:00:00:00:01"), ("right", "F0:00:00:00:00:02")] {
                let data = try await world.succeeds("jacquard/tag/\(id)/config/get", #"{"key":"side"}"#)
                #expect(data["value"] as? String == id)
                #expect(world.observer.document("jacquard/tag/\(id)/info")["address"] as? String == address)
            }
            #expect(world.problems.isEmpty)
            #expect(World.code(of: try await world.command("jacquard/tag/0001/battery/get", "")) == "unknown_tag")
        }
    }
}
