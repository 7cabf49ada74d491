import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("request/doctor and request/log")
struct DoctorRequestTests {
    private typealias Finding = [String: Any]

    private static func finding(_ name: String, in data: [String: Any]) throws -> Finding {
        let checks = try #require(data["checks"] as? [Finding])
        return try #require(checks.first { $0["name"] as? String == name }, "\(checks)")
    }

    @Test("doctor finds nothing wrong with a connected tag")
    func connected() async throws {
        try await inWorld { world in
            try await world.connected()
            let result = try await world.request("doctor", #"{"tag":"0001"}"#)
            let data = try #require(result["data"] as? [String: Any])
            for name in ["system_bus", "bluetooth_service", "adapter", "broker", "bridge", "received", "link"] {
                #expect(try Self.finding(name, in: data)["verdict"] as? String == "ok", "\(name)")
            }
            #expect(data["broken"] is NSNull)
            #expect(
                data["chain"] as? [String] == [
                    "broker", "bridge", "adapter", "connection_policy", "received", "bond", "link",
                ])
        }
    }

    @Test("doctor names the broken link: an adapter that is off, a silent tag, a tag that was disconnected")
    func brokenLinks() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.succeeds("jacquard/tag/0001/connection/set", "disconnect")
            var data = try await world.succeeds(World.bridge + "/request/doctor", "0001")
            #expect(data["broken"] as? String == "connection_policy")
            try await world.succeeds("jacquard/tag/0001/connection/set", "connect")
            try await world.simulate("adapter off")
            try await until("the adapter is off") {
                world.observer.latest(World.bridge + "/adapter")?.contains("powered_off") == true
            }
            data = try await world.succeeds(World.bridge + "/request/doctor", "0001")
            #expect(data["broken"] as? String == "adapter")
            let adapter = try Self.finding("adapter", in: data)
            #expect((adapter["remedies"] as? [String])?.first == "bluetoothctl power on")
        }
    }

    @Test("doctor answers while bluetoothd hangs, with that as a finding; several requests share one examination")
    func hangingService() async throws {
        try await inWorld { world in
            try await world.connected()
            world.simulator.signal(SIGSTOP)
            defer { world.simulator.signal(SIGCONT) }
            let ids = (0..<5).map { "d\($0)" }
            for id in ids { try world.observer.publish(World.bridge + "/request/doctor", #"{"id":"\#(id)"}"#) }
            try await until("five results") {
                Set(world.finals(World.bridge + "/response/doctor").compactMap { $0["id"] as? String }) == Set(ids)
            }
            for result in world.finals(World.bridge + "/response/doctor") {
                let data = try #require(result["data"] as? [String: Any])
                #expect(data["status"] as? String == "failed")
                #expect(try Self.finding("bluetooth_policy", in: data)["verdict"] as? String == "failed")
            }
        }
    }

    @Test("log publishes the records of a tag at a level below that of the log itself, until it is ended")
    func log() async throws {
        try await inWorld(WorldPlan(tags: 2, tagList: "  - serial: 0001\n  - serial: 0002")) { world in
            try await world.connected(1...2)
            try await world.request("log_level", "error")
            let data = try await world.succeeds(
                World.bridge + "/request/log", #"{"level":"debug","tag":"0001","duration_s":60}"#)
            #expect(data["level"] as? String == "debug" && data["tag"] as? String == "0001")
            let lines = world.daemon.printed.count
            try await world.succeeds("jacquard/tag/0002/connection/set", "disconnect")
            try await world.succeeds("jacquard/tag/0001/connection/set", "disconnect")
            let topic = World.bridge + "/log"
            try await until("a record") { !world.results(topic).isEmpty }
            try await world.settled("0001")
            for record in world.results(topic) {
                let fields = try #require(record["fields"] as? [String: String])
                #expect(fields["tag"] == "0001" || fields["address"] == "F0:00:00:00:00:01", "\(record)")
                #expect(record["bridge"] != nil && record["omitted"] as? Int == 0)
            }
            #expect(world.daemon.printed.count == lines)
            try await world.succeeds(World.bridge + "/request/log", #"{"duration_s":0}"#)
            let count = world.results(topic).count
            try await world.succeeds("jacquard/tag/0001/connection/set", "connect")
            try await world.connected()
            #expect(world.results(topic).count == count)
        }
    }

    @Test("log publishes what was logged before, at the time at which it was logged, and nothing twice")
    func past() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.succeeds("jacquard/tag/0001/connection/set", "disconnect")
            try await world.settled("0001")
            let topic = World.bridge + "/log"
            let data = try await world.succeeds(
                World.bridge + "/request/log", #"{"tag":"0001","past_s":600,"duration_s":60}"#)
            let past = world.results(topic)
            let times = past.compactMap { $0["time"] as? String }
            #expect(past.allSatisfy { $0["past"] as? Bool == true } && times == times.sorted())
            #expect(past.contains { $0["message"] as? String == "connected" })
            let since = try #require(data["since"] as? String), end = try #require(data["until"] as? String)
            #expect(times.allSatisfy { $0 >= since && $0 < end })
            try await world.succeeds("jacquard/tag/0001/connection/set", "connect")
            try await world.connected()
            try await until("a later record") { world.results(topic).count > past.count }
            for record in world.results(topic).dropFirst(past.count) {
                let time = try #require(record["time"] as? String)
                #expect(record["past"] as? Bool == false && times.allSatisfy { $0 <= time }, "\(record)")
            }
        }
    }

    @Test("log at the lowest level has the gestures and commands of a tag")
    func traffic() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.succeeds(
                World.bridge + "/request/log", #"{"level":"trace","tag":"0001","duration_s":60}"#)
            try await world.simulate("gesture 0001 cover")
            try await world.succeeds("jacquard/tag/0001/led/set", "on")
            @LoopActor func has(_ message: String, _ name: String? = nil, _ value: String? = nil) -> Bool {
                world.results(World.bridge + "/log").contains { record in
                    let fields = record["fields"] as? [String: String]
                    return record["message"] as? String == message && (name == nil || fields?[name ?? ""] == value)
                }
            }
            try await until("the gesture") { has("gesture", "gesture", "cover") }
            try await until("the command") { has("command", "command", "led") && has("command answered") }
        }
    }

    @Test("log at the lowest level causes no further records by itself, and ends with the connection")
    func quiet() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.succeeds(World.bridge + "/request/log", #"{"level":"trace","duration_s":3600}"#)
            try await world.succeeds("jacquard/tag/0001/connection/set", "disconnect")
            let topic = World.bridge + "/log"
            try await until("a record") { !world.results(topic).isEmpty }
            try await world.succeeds(World.bridge + "/request/health")
            let count = world.results(topic).count
            for _ in 0..<20 { try await world.succeeds(World.bridge + "/request/health") }
            #expect(world.results(topic).count == count)
            try await world.stopBroker()
            world.observer.forget()
            try await world.startBroker()
            try await until("the bridge is back") { world.observer.latest(World.bridge + "/state") == "online" }
            try await world.succeeds("jacquard/tag/0001/connection/set", "connect")
            try await world.connected()
            #expect(world.results(topic).isEmpty)
        }
    }
}
