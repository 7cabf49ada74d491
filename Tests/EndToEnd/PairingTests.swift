import EventLoop
import Foundation
import MQTTTypes
import TestSupport
import Testing

@Suite("A tag that is not in the configuration")
struct PairingTests {
    private static let plan = WorldPlan(tags: 2, options: ["--pairing"], tagList: "")

    @Test("is paired by command, with its stages on G/event, and then works like any other")
    func pair() async throws {
        try await inWorld(Self.plan) { world in
            let result = try await world.request("pair", #"{"serial":"0002","timeout_s":15,"id":"p"}"#)
            #expect(result["status"] as? String == "ok", "\(result)")
            #expect((result["data"] as? [String: Any])?["address"] as? String == "F0:00:00:00:00:02")
            try await world.connected(2...2)
            let stages = world.results(World.bridge + "/event").compactMap { $0["type"] as? String }
            #expect(stages == ["pair_started", "pair_found", "pair_pairing", "pair_connecting", "paired"])
            #expect(world.observer.messages.allSatisfy { $0.topic != World.bridge + "/event" || !$0.isRetained })
            #expect(try await world.bluetoothObjects().contains("dev_F0_00_00_00_00_02"))
            #expect(world.observer.document(World.bridge + "/info")["tags"] as? [String] == ["0002"])
            #expect(world.observer.document("jacquard/tag/0002/info")["paired"] as? Bool == true)
            #expect(world.observer.document("jacquard/tag/0002/connection")["adapter"] as? String == "hci0")
            #expect(world.observer.document("jacquard/tag/0002/battery")["level"] is Int)
            #expect(try await world.succeeds("jacquard/tag/0002/rssi/get")["rssi"] is Int)
            try await world.succeeds("jacquard/tag/0002/led/set", "flash")
            #expect(world.told("connected").allSatisfy { $0["tag"] as? String == "0002" })
        }
    }

    @Test("is connected again after a restart of the bridge")
    func restart() async throws {
        try await inWorld(Self.plan) { world in
            try await world.succeeds(World.bridge + "/request/pair", "0002")
            try await world.connected(2...2)
            try await until("it is in the state file") { try world.stored("0002")?["paired"] as? Bool == true }
            try await world.stopAndStartDaemon()
            try await world.connected(2...2)
            #expect(world.observer.latest(World.bridge + "/event") == nil)
            try await world.succeeds("jacquard/tag/0002/led/set", "flash")
        }
    }

    @Test("leaves no topic, bond or state when it is forgotten")
    func forget() async throws {
        try await inWorld(Self.plan) { world in
            try await world.succeeds(World.bridge + "/request/pair", "0002")
            try await world.connected(2...2)
            let result = try await world.request("forget", #"{"id":"0002"}"#)
            #expect(result["status"] as? String == "ok", "\(result)")
            #expect(result["id"] as? String == "0002")
            #expect(world.events("tag_forgotten").count == 1)
            let retained = try await world.retainedTopics()
            #expect(retained.contains(World.bridge + "/info"))
            #expect(retained.filter { $0.contains("0002") } == [])
            #expect(world.observer.document(World.bridge + "/info")["tags"] as? [String] == [])
            try await until("the state file is without it") { try world.stored("0002") == nil }
            #expect(try await !world.bluetoothObjects().contains("dev_F0_00_00_00_00_02"))
            let unknown = try await world.command("jacquard/tag/0002/led/set", "flash")
            #expect(World.code(of: unknown) == "unknown_tag")
            try await world.stopAndStartDaemon()
            try await until("no tag") { world.observer.document(World.bridge + "/info")["tags"] as? [String] == [] }
        }
    }

    @Test("may be paired again after it was forgotten, and forgotten again")
    func again() async throws {
        try await inWorld(Self.plan) { world in
            for round in 1...2 {
                let paired = try await world.request("pair", "0002")
                #expect(paired["status"] as? String == "ok", "\(round): \(paired)")
                try await until("it is connected") { world.isConnected("0002") }
                let forgotten = try await world.request("forget", "0002")
                #expect(forgotten["status"] as? String == "ok", "\(round): \(forgotten)")
                #expect(try await world.retainedTopics().filter { $0.contains("0002") } == [])
            }
        }
    }

    @Test("that is absent is neither paired nor stored")
    func absent() async throws {
        try await inWorld(Self.plan) { world in
            try await world.simulate("out-of-range 0002")
            let result = try await world.request("pair", #"{"serial":"0002","timeout_s":1}"#)
            #expect(World.code(of: result) == "expired", "\(result)")
            #expect(world.events("pair_failed").count == 1)
            #expect(try await world.retainedTopics().filter { $0.contains("0002") } == [])
            try await world.simulate("in-range 0002")
            try await world.succeeds(World.bridge + "/request/pair", "0002")
            try await world.connected(2...2)
        }
    }

    @Test("whose pairing is stopped is neither paired nor stored, and can be paired again")
    func stopped() async throws {
        try await inWorld(Self.plan) { world in
            try await world.simulate("out-of-range 0002")
            try world.observer.publish(
                World.bridge + "/request/pair", #"{"serial":"0002","timeout_s":300,"id":"wrong"}"#)
            try await until("the bridge looks for the tag") { world.events("pair_started").count == 1 }
            try await world.request("pair", "stop")
            let topic = World.bridge + "/response/pair"
            try await until("both requests have ended") { world.finals(topic).count == 2 }
            let (pair, stop) = (world.finals(topic)[0], world.finals(topic)[1])
            #expect(pair["id"] as? String == "wrong" && World.code(of: pair) == "not_permitted", "\(pair)")
            #expect((stop["data"] as? [String: Any])?["stopped"] as? [String] == ["0002"], "\(stop)")
            #expect(world.events("pair_failed").count == 1)
            #expect(try await world.retainedTopics().filter { $0.contains("0002") } == [])
            try await world.simulate("in-range 0002")
            try await world.succeeds(World.bridge + "/request/pair", "0002")
            try await world.connected(2...2)
        }
    }

    @Test("is not paired while Bluetooth is off")
    func bluetoothOff() async throws {
        try await inWorld(Self.plan) { world in
            try await world.simulate("adapter off")
            try await until("the bridge has noticed") {
                world.observer.latest(World.bridge + "/adapter")?.contains("powered_off") == true
            }
            #expect(World.code(of: try await world.request("pair", "0002")) == "not_permitted")
            #expect(world.observer.latest(World.bridge + "/event")?.contains("pair_started") != true)
        }
    }

    @Test("and one that is: paired by command, it stays when it is no longer listed")
    func listedFirst() async throws {
        try await inWorld(WorldPlan(tags: 1, options: ["--pairing"])) { world in
            try await world.succeeds(World.bridge + "/request/pair", "0001")
            try await world.connected()
            try await until("it is in the state file") { try world.stored("0001")?["paired"] as? Bool == true }
            try await world.reload(WorldPlan(tagList: ""))
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            #expect(world.observer.document(World.bridge + "/info")["tags"] as? [String] == ["0001"])
        }
    }

    @Test("and one that is: after request/forget it stays disconnected until the next start")
    func configured() async throws {
        try await inWorld { world in
            try await world.connected()
            let data = try await world.succeeds(World.bridge + "/request/forget", "0001")
            #expect(data["configured"] as? Bool == true)
            #expect(data["note"] is String)
            #expect(try await world.retainedTopics().filter { $0.contains("0001") } == [])
            try await world.stopAndStartDaemon()
            try await world.connected()
        }
    }
}
