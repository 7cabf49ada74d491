import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("The published state matches the tag")
struct TagTruthTests {
    @Test(
        "long commands reach a tag whose link has the smallest MTU", arguments: [[], ["--write-without-response-only"]])
    func smallestMTU(options: [String]) async throws {
        try await inWorld(options: ["--mtu", "23"] + options) { world in
            try await world.connected()
            let frames = (0..<30).map { ##"{"color":"#0000\##($0 + 10)","duration_ms":100}"## }.joined(separator: ",")
            try await world.succeeds("jacquard/tag/0001/led/set", #"{"frames":[\#(frames)],"duration_ms":3000}"#)
            #expect((world.told("led").last?["frames"] as? [Any])?.count == 30)
            try await world.isOfUse()
        }
    }

    @Test("a tag that answers no command goes offline, and works again when it answers")
    func hangs() async throws {
        try await inWorld { world in
            try await world.connected()
            let links = world.told("connected").count
            try await world.simulate("fault 0001 hang")
            for _ in 1...2 { try world.observer.publish("jacquard/tag/0001/battery/get", "") }
            try await world.tagIsMissed(within: .seconds(40))
            let ends = world.finals("jacquard/tag/0001/battery/result").suffix(2).map(World.code)
            #expect(ends == ["timeout", "timeout"])
            try await world.simulate("fault 0001 clear")
            try await world.tagReturns(after: "tag that answers nothing")
            try await until("the report of the simulator") { world.told("connected").count > links }
            try await world.isOfUse()
        }
    }

    @Test("the touch mode is that of the tag if the response to its change is lost")
    func touchMode() async throws {
        try await inWorld { world in
            try await world.connected()
            let topic = "jacquard/tag/0001/touch_mode"
            try await world.simulate("fault 0001 drop-response once")
            #expect(World.code(of: try await world.command(topic + "/set", "continuous")) == "timeout")
            #expect(world.observer.latest(topic) == "gesture")
            try await world.simulate("touch 0001 5 10")
            try await until("the mode that the tag has") { world.observer.latest(topic) == "continuous" }
        }
    }

    @Test("the battery of a tag that does not announce it is requested after the connection")
    func silentBattery() async throws {
        try await inWorld(options: ["--profile", "silent-battery"]) { world in
            try await world.connected()
            #expect(world.observer.payloads(of: "jacquard/tag/0001/battery/level").allSatisfy { $0 == "87" })
            try await until("the battery") { world.observer.latest("jacquard/tag/0001/battery/level") == "87" }
        }
    }

    @Test("the last battery survives a restart, with its time")
    func batteryAfterRestart() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("battery 0001 42 charging")
            let topic = "jacquard/tag/0001/battery"
            try await until("the battery") { world.observer.latest(topic + "/level") == "42" }
            let time = try #require(world.observer.document(topic)["time"] as? String)
            try await world.simulate("out-of-range 0001")
            try await world.stopAndStartDaemon()
            try await until("the battery of before") { world.observer.latest(topic + "/level") == "42" }
            #expect(world.observer.document(topic)["time"] as? String == time)
            #expect(world.observer.document(topic)["charging"] as? Bool == true)
        }
    }

    @Test("an on-demand tag is offline after an expired command, and online when it is received")
    func onDemand() async throws {
        let plan = WorldPlan(tagList: "  - serial: 0001\n    connect: on_demand")
        try await inWorld(plan) { world in
            let topic = "jacquard/tag/0001/availability"
            try await world.simulate("out-of-range 0001")
            try await until("online") { world.observer.latest(topic) == "online" }
            let result = try await world.command("jacquard/tag/0001/led/set", #"{"flash":1,"ttl_ms":500}"#)
            #expect(World.code(of: result) == "expired")
            try await until("offline") { world.observer.latest(topic) == "offline" }
            try await world.simulate("in-range 0001")
            try await until("online again") { world.observer.latest(topic) == "online" }
        }
    }
}

@Suite("A tag and a device that advertises its serial")
struct ImpersonationTests {
    private static let tag = "F0:00:00:00:00:01"
    private static let other = "F0:00:00:00:00:02"

    @Test("are two devices: the other one is reported and never connected", arguments: [true, false])
    func impersonated(isBonded: Bool) async throws {
        let scratch = try ScratchFolder()
        let scenario = try scratch.write("scenario", "out-of-range \(Self.other)\n")
        let plan = WorldPlan(
            tags: 2, options: ["--serials", "0001,0001", "--scenario", scenario],
            tagList: isBonded ? "" : "  - serial: 0001")
        try await inWorld(plan) { world in
            if isBonded { try await world.request("pair", #"{"serial":"0001"}"#) }
            try await world.connected()
            try await world.simulate("out-of-range \(Self.tag)")
            try await world.tagIsMissed()
            try await world.simulate("in-range \(Self.other)")
            try await until("the problem") { world.problems == ["duplicate_serial"] }
            #expect(world.events("duplicate_serial").last?["address"] as? String == Self.other)
            #expect(!world.isConnected("0001"))
            #expect(world.observer.document("jacquard/tag/0001/info")["address"] as? String == Self.tag)
            let file = try String(contentsOf: URL(filePath: world.folder.path + "/tags.json"), encoding: .utf8)
            #expect(file.contains(Self.tag) && !file.contains(Self.other))
            try await world.simulate("in-range \(Self.tag)")
            try await world.tagReturns(after: "tag away while another device shows its serial")
            try await world.simulate("gesture \(Self.tag) cover")
            try await until("a gesture") { world.observer.latest("jacquard/tag/0001/gesture") != nil }
            try await until("the report of the simulator") { world.told("connected").count == 2 }
            #expect(world.observer.document("jacquard/tag/0001/info")["address"] as? String == Self.tag)
        }
    }

    @Test("are one tag after the user has forgotten the tag and paired it at its new address")
    func moved() async throws {
        let scratch = try ScratchFolder()
        let scenario = try scratch.write("scenario", "out-of-range \(Self.other)\n")
        let plan = WorldPlan(tags: 2, options: ["--serials", "0001,0001", "--scenario", scenario], tagList: "")
        try await inWorld(plan) { world in
            try await world.request("pair", #"{"serial":"0001"}"#)
            try await world.connected()
            try await world.simulate("out-of-range \(Self.tag)")
            try await world.tagIsMissed()
            try await world.simulate("in-range \(Self.other)")
            try await until("the problem") { world.problems == ["duplicate_serial"] }
            try await world.request("forget", #"{"id":"0001"}"#)
            let result = try await world.request("pair", #"{"serial":"0001"}"#)
            #expect((result["data"] as? [String: Any])?["address"] as? String == Self.other)
            try await until("the end of the problem") { world.problems.isEmpty }
            try await world.connected()
            #expect(world.observer.document("jacquard/tag/0001/info")["address"] as? String == Self.other)
        }
    }
}
