import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Each request to the bridge has one result")
struct BridgeRequestTests {
    @Test("tags reports known and received tags")
    func tags() async throws {
        try await inWorld(WorldPlan(tags: 2, tagList: "  - serial: 0001")) { world in
            try await world.connected()
            try await world.succeeds(World.bridge + "/request/scan", #"{"duration_s":30}"#)
            try await until("the other one was heard") {
                world.results(World.bridge + "/advertisement").contains { $0["serial"] as? String == "0002" }
            }
            let data = try await world.succeeds(World.bridge + "/request/tags")
            let known = try #require(data["known"] as? [[String: Any]])
            #expect(known.map { $0["id"] as? String } == ["0001"])
            #expect(known[0]["state"] as? String == "connected")
            let seen = try #require(data["seen"] as? [[String: Any]])
            #expect(seen.contains { $0["serial"] as? String == "0002" && $0["known"] as? Bool == false })
        }
    }

    @Test("tags reports a link made by another program of this host")
    func otherLinks() async throws {
        try await inWorld(WorldPlan(tags: 2, tagList: "  - serial: 0001")) { world in
            try await world.connected()
            try await world.succeeds(World.bridge + "/request/scan", #"{"duration_s":30}"#)
            try await until("it was heard") { !world.results(World.bridge + "/advertisement").isEmpty }
            let connected = try await world.callBlueZ(
                "/org/bluez/hci0/dev_F0_00_00_00_00_02", "org.bluez.Device1.Connect")
            #expect(connected.status == 0, "\(connected.printed)")
            let data = try await world.succeeds(World.bridge + "/request/tags")
            let seen = try #require(data["seen"] as? [[String: Any]])
            let stranger = try #require(seen.first { $0["serial"] as? String == "0002" })
            #expect(stranger["connected"] as? Bool == true && stranger["known"] as? Bool == false)
        }
    }

    @Test("health measures the process")
    func health() async throws {
        try await inWorld { world in
            try await world.connected()
            let data = try await world.succeeds(World.bridge + "/request/health")
            #expect(data["status"] as? String == "ok")
            #expect((data["problems"] as? [Any])?.isEmpty == true)
            #expect(try #require(data["rss_kb"] as? Int) > 1000)
            #expect(data["broker_reconnects"] as? Int == 0)
        }
    }

    @Test("log_level applies immediately")
    func logLevel() async throws {
        try await inWorld { world in
            try await world.connected()
            let topic = World.bridge + "/request/log_level"
            try await world.succeeds(topic, "error")
            let lines = world.daemon.printed.count
            try await world.succeeds("jacquard/tag/0001/connection/set", "disconnect")
            #expect(world.daemon.printed.count == lines)
            try await world.succeeds(topic, #"{"level":"debug"}"#)
            try await world.succeeds("jacquard/tag/0001/connection/set", "connect")
            try await until("the log goes on") { world.daemon.printed.count > lines }
        }
    }

    @Test("an invalid request is refused without effect")
    func nonsense() async throws {
        let cases: [(verb: String, inputs: [(payload: String, code: String)])] = [
            (
                "scan",
                [
                    ("go", "invalid_argument"), (#"{"duration_s":0}"#, "invalid_argument"), ("{", "invalid_json"),
                    (#"{"duplicates":"yes"}"#, "invalid_argument"), (#"{"duration_s":3601}"#, "invalid_argument"),
                ]
            ),
            (
                "pair",
                [
                    ("", "invalid_argument"), (#"{"serial":""}"#, "invalid_argument"), ("{", "invalid_json"),
                    (#"{"serial":"a/b"}"#, "invalid_argument"), (#"{"serial":1}"#, "invalid_argument"),
                    (#"{"serial":"0002","timeout_s":0}"#, "invalid_argument"),
                    (#"{"serial":"0002","timeout_s":301}"#, "invalid_argument"),
                ]
            ),
            (
                "forget",
                [
                    ("", "invalid_argument"), ("9999", "unknown_tag"), (#"{"id":7}"#, "invalid_argument"),
                    ("{", "invalid_json"), (#"{"id":"9999"}"#, "unknown_tag"),
                ]
            ),
            ("tags", [("all", "invalid_argument"), ("{", "invalid_json"), ("[]", "invalid_argument")]),
            ("health", [("now", "invalid_argument"), ("{", "invalid_json"), ("[]", "invalid_argument")]),
            (
                "log_level",
                [
                    ("", "invalid_argument"), ("loud", "invalid_argument"), (#"{"level":1}"#, "invalid_argument"),
                    ("{", "invalid_json"),
                ]
            ),
            ("refresh", [("all", "invalid_argument"), ("{", "invalid_json"), ("[]", "invalid_argument")]),
            ("fly", [("", "unknown_command"), ("{}", "unknown_command"), ("{", "unknown_command")]),
        ]
        try await inWorld(WorldPlan(tags: 2, tagList: "  - serial: 0001")) { world in
            try await world.connected()
            for (verb, inputs) in cases {
                for (payload, code) in inputs {
                    let result = try await world.request(verb, payload)
                    #expect(result["status"] as? String == "error", "\(verb) \(payload)")
                    #expect(World.code(of: result) == code, "\(verb) \(payload)")
                }
            }
            try await world.settled()
            for (verb, inputs) in cases {
                #expect(world.finals("\(World.bridge)/response/\(verb)").count == inputs.count, "\(verb)")
            }
            #expect(world.observer.latest(World.bridge + "/event") == nil)
            #expect(world.isConnected("0001"))
            try await until("the report of the simulator") { world.told("connected").count == 1 }
        }
    }
}
