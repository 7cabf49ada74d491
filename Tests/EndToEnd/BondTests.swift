import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("A bond")
struct BondTests {
    private static let topic = World.bridge + "/request/pair"

    @Test("is made with a configured tag that requests it, without a command")
    func configured() async throws {
        try await inWorld(WorldPlan(tags: 2, options: ["--pairing"])) { world in
            try await world.connected(1...2)
            try await world.succeeds("jacquard/tag/0002/led/set", "flash")
            #expect(world.observer.latest(World.bridge + "/event") == nil)
        }
    }

    @Test("is made once at a time: a second request for the same tag is refused as busy")
    func once() async throws {
        try await inWorld(WorldPlan(tags: 2, options: ["--pairing"], tagList: "")) { world in
            try await world.simulate("out-of-range 0002")
            for id in ["a", "b"] {
                try world.observer.publish(Self.topic, #"{"serial":"0002","timeout_s":20,"id":"\#(id)"}"#)
            }
            try await until("the refusal") { world.finals(World.bridge + "/response/pair").count == 1 }
            #expect(World.code(of: world.finals(World.bridge + "/response/pair")[0]) == "busy")
            try await world.simulate("in-range 0002")
            try await until("the other one's end") { world.finals(World.bridge + "/response/pair").count == 2 }
            let paired = world.finals(World.bridge + "/response/pair")[1]
            #expect(paired["status"] as? String == "ok" && paired["id"] as? String == "a")
            #expect(world.events("paired").count == 1)
        }
    }

    @Test("is made with several tags at the same time")
    func several() async throws {
        try await inWorld(WorldPlan(tags: 4, options: ["--pairing"], tagList: "")) { world in
            for number in 1...4 {
                try world.observer.publish(Self.topic, #"{"serial":"\#(World.serial(number))","id":"\#(number)"}"#)
            }
            try await until("four results") { world.finals(World.bridge + "/response/pair").count == 4 }
            #expect(world.finals(World.bridge + "/response/pair").allSatisfy { $0["status"] as? String == "ok" })
            try await world.connected(1...4)
        }
    }

    @Test("with a connected tag does not interrupt its connection")
    func connectedAlready() async throws {
        try await inWorld { world in
            try await world.connected()
            let data = try await world.succeeds(Self.topic, "0001")
            #expect(data["id"] as? String == "0001")
            #expect(world.isConnected("0001"))
            #expect(world.told("disconnected").isEmpty)
            try await until("the bond is told") {
                world.observer.document("jacquard/tag/0001/info")["paired"] as? Bool == true
            }
        }
    }

    @Test(
        "that the tag has lost ends its connection with an error; after request/pair the tag works, forgotten before or not",
        arguments: [false, true])
    func lost(isForgotten: Bool) async throws {
        try await inWorld(WorldPlan(tags: 2, options: ["--pairing"], tagList: "")) { world in
            try await world.succeeds(Self.topic, "0002")
            try await world.connected(2...2)
            try await world.simulate("lose-bond 0002")
            try await world.simulate("out-of-range 0002")
            try await until("it is away") { world.observer.latest("jacquard/tag/0002/availability") == "offline" }
            try await world.simulate("in-range 0002")
            try await until("the loss is known", within: .seconds(40)) {
                world.observer.document("jacquard/tag/0002/connection")["state"] as? String == "disconnected"
            }
            let connection = world.observer.document("jacquard/tag/0002/connection")
            let error = try #require(connection["error"] as? [String: Any])
            #expect(error["code"] as? String == "peer_removed_pairing_info")
            #expect(error["hint"] is String)
            try await until("the problem") { world.problems == ["peer_removed_pairing_info"] }
            if isForgotten { try await world.succeeds(World.bridge + "/request/forget", "0002") }
            try await world.succeeds(Self.topic, "0002")
            try await world.tagReturns("0002", after: "bond lost, and paired")
            try await until("no problem") { world.problems.isEmpty }
        }
    }

    @Test("that Bluetooth refuses to remove stays, and the tag is connected again and known after a restart")
    func refusedRemoval() async throws {
        try await inWorld(WorldPlan(tags: 2, options: ["--pairing"], tagList: "")) { world in
            try await world.succeeds(Self.topic, "0002")
            try await world.connected(2...2)
            try await world.simulate("bluez refuse RemoveDevice Failed no")
            let result = try await world.command(World.bridge + "/request/forget", "0002")
            #expect(World.code(of: result) == "tag_error")
            try await world.connected(2...2)
            try await world.stopDaemon()
            try world.restartDaemon()
            try await world.connected(2...2)
        }
    }

    @Test("of an absent tag is removed, too")
    func forgetAbsent() async throws {
        try await inWorld(WorldPlan(tags: 2, options: ["--pairing"], tagList: "")) { world in
            try await world.succeeds(Self.topic, "0002")
            try await world.connected(2...2)
            try await world.simulate("out-of-range 0002")
            try await until("it is away") { world.observer.latest("jacquard/tag/0002/availability") == "offline" }
            try await world.succeeds(World.bridge + "/request/forget", "0002")
            #expect(try await !world.bluetoothObjects().contains("dev_F0_00_00_00_00_02"))
            #expect(try await world.retainedTopics().filter { $0.contains("0002") } == [])
            try await world.simulate("in-range 0002")
            try await world.succeeds(World.bridge + "/request/scan", "{}")
            try await until("it is heard") { !world.results(World.bridge + "/advertisement").isEmpty }
            try await until("the report of the simulator") { world.told("connected").count == 1 }
        }
    }

    @Test("of a tag that the user disconnected is removed, with that state")
    func forgetHeld() async throws {
        try await inWorld(WorldPlan(tags: 2, options: ["--pairing"], tagList: "")) { world in
            try await world.succeeds(Self.topic, "0002")
            try await world.connected(2...2)
            try await world.succeeds("jacquard/tag/0002/connection/set", "disconnect")
            try await world.succeeds(World.bridge + "/request/forget", "0002")
            try await world.succeeds(Self.topic, "0002")
            try await world.connected(2...2)
        }
    }

    @Test("may be made again while the tag's topics are still being cleared")
    func pairWhileForgetting() async throws {
        try await inWorld(WorldPlan(tags: 2, options: ["--pairing"], tagList: "")) { world in
            try await world.succeeds(Self.topic, "0002")
            try await world.connected(2...2)
            try world.observer.publish(World.bridge + "/request/forget", "0002")
            try await until("it is forgotten") { world.events("tag_forgotten").count == 1 }
            try await world.succeeds(Self.topic, "0002")
            try await until("both results") { world.finals(World.bridge + "/response/forget").count == 1 }
            try await until("it is connected") { world.isConnected("0002") }
            let retained = try await world.retainedTopics()
            #expect(retained.filter { $0.hasPrefix("jacquard/tag/0002/") }.count == 12)
        }
    }
}
