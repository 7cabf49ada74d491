import EventLoop
import Foundation
import MQTTTypes
import TestSupport
import Testing

@Suite("Two bridges at one broker")
struct TwoBridgesTests {
    @Test("answer each command once: the one that knows the tag, or one of them if none does")
    func oneAnswer() async throws {
        try await inWorld(WorldPlan(tags: 2, tagList: "  - serial: 0001")) { world in
            let cellar = try world.anotherBridge("cellar", tag: "0002")
            try await world.connected(1...2)
            #expect(world.observer.document("jacquard/tag/0001/info")["bridge"] as? String == "attic")
            #expect(world.observer.document("jacquard/tag/0002/info")["bridge"] as? String == "cellar")
            try await until("each knows of the other") {
                world.observer.document("jacquard/bridge/cellar/info")["tags"] as? [String] == ["0002"]
            }
            for tag in ["0001", "0002", "9999"] {
                _ = try await world.command("jacquard/tag/\(tag)/led/set", "flash")
            }
            try await world.settled("0001")
            try await world.settled("0002")
            let answers = ["0001", "0002", "9999"].map { tag in
                world.finals("jacquard/tag/\(tag)/led/result").map { $0["bridge"] as? String }
            }
            #expect(answers == [["attic"], ["cellar"], ["attic"]])
            #expect(World.code(of: world.finals("jacquard/tag/9999/led/result")[0]) == "unknown_tag")
            try await until("the report of the simulator") { world.told("led").count == 2 }
            cellar.signal(SIGTERM)
            try await until("the other one leaves") {
                world.observer.latest("jacquard/bridge/cellar/state") == "offline" && !cellar.isRunning
            }
            #expect(world.isConnected("0001"))
        }
    }

    @Test("with one instance name are a problem that names the client identifier")
    func copied() async throws {
        try await inWorld { world in
            try await world.connected()
            let copy = try world.anotherBridge("attic", tag: "0001", ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere"])
            defer { copy.signal(SIGTERM) }
            try await until("the problem", within: .seconds(60)) { world.problems.contains("client_id_in_use") }
            #expect(world.observer.latest(World.bridge + "/health")?.contains("jacquard-attic") == true)
        }
    }

    @Test("answer a command for a shared tag once: the one that is connected to it")
    func sharedTag() async throws {
        let scratch = try ScratchFolder()
        let scenario = try scratch.write("scenario", "out-of-range 0001\n")
        try await inWorld(WorldPlan(options: ["--scenario", scenario], tagList: "  - serial: 0001")) { world in
            let cellar = try world.anotherBridge(
                "cellar", tag: "0001", ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere"])
            try await world.simulate("in-range 0001")
            try await world.connected()
            try await until("the other one knows") {
                world.observer.document("jacquard/bridge/attic/info")["connected"] as? [String] == ["0001"]
            }
            for payload in ["flash", "{", #"{"state":"ON","ttl_ms":100}"#] {
                _ = try await world.command("jacquard/tag/0001/led/set", payload)
            }
            // Both receive it behind the commands, and only its own bridge answers it.
            _ = try await world.command("jacquard/bridge/cellar/request/health", "")
            let answers = world.finals("jacquard/tag/0001/led/result").map { $0["bridge"] as? String }
            #expect(answers == ["attic", "attic", "attic"])
            world.daemon.signal(SIGTERM)
            try await until("the first one leaves") {
                world.observer.latest("jacquard/bridge/attic/state") == "offline"
            }
            let result = try await world.command("jacquard/tag/0001/led/set", #"{"state":"ON","ttl_ms":0}"#)
            #expect(result["bridge"] as? String == "cellar")
            #expect(World.code(of: result) == "tag_offline")
            cellar.signal(SIGTERM)
            try await until("the other one leaves") { !cellar.isRunning }
        }
    }

    @Test(
        "a bridge that starts without the tag leaves the facts to the other one, until that one dies",
        arguments: [false, true])
    func leftFacts(isAdapterShared: Bool) async throws {
        try await inWorld { world in
            try await world.connected()
            try await until("the battery") { world.level != nil }
            let facts = world.facts
            world.observer.forget()
            let cellar = try world.anotherBridge(
                "cellar", tag: "0001", isAdapterShared ? [:] : ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere"])
            defer { cellar.signal(SIGTERM) }
            try await until("it leaves the tag") {
                world.observer.document("jacquard/bridge/cellar/info")["elsewhere"] as? [String] == ["0001"]
            }
            try await until("the other one has published everything again") {
                world.observer.latest("jacquard/tag/0001/led") != nil
            }
            try await world.observer.catchUp()
            #expect(world.facts == facts)
            #expect(Set(world.observer.payloads(of: World.availability)) == ["online"])
            let states = world.results("jacquard/tag/0001/connection").map { $0["state"] as? String }
            #expect(Set(states) == ["connected"])
            if isAdapterShared {
                cellar.signal(SIGTERM)
                try await until("its end") { world.observer.latest("jacquard/bridge/cellar/state") == "offline" }
                try await world.observer.catchUp()
                #expect(world.facts == facts && world.isConnected("0001"))
                return
            }
            world.daemon.signal(SIGKILL)
            try await until("offline") { world.observer.latest(World.availability) == "offline" }
            let order = world.observer.messages.map(\.topic)
            let will = try #require(order.lastIndex(of: World.bridge + "/state"))
            #expect(will < order.lastIndex(of: World.availability) ?? 0)
            try await until("the connection") {
                world.observer.document("jacquard/tag/0001/connection")["state"] as? String != "connected"
            }
            #expect(world.level != nil)
            try await until("the killed one") { !world.daemon.isRunning }
            try world.restartDaemon()
            try await world.connected()
            #expect(world.facts == facts)
        }
    }

    @Test("the bridge that the tag connects to has the last facts, also after the broker has lost everything")
    func moved() async throws {
        try await inWorld { world in
            try await world.connected()
            let scenario = try world.folder.write("scenario", "out-of-range 0001\n")
            let tags = try Program(
                Program.buildFolder + "/jacquard-simulator", ["--tags", "1", "--quick", "--scenario", scenario])
            defer { tags.signal(SIGTERM) }
            try await until("the other simulator is ready") { tags.printed.contains("\nready\n") }
            let address = tags.printed.split(separator: "\n")[0].dropFirst("DBUS_SYSTEM_BUS_ADDRESS=".count)
            let cellar = try world.anotherBridge("cellar", tag: "0001", ["DBUS_SYSTEM_BUS_ADDRESS": String(address)])
            defer { cellar.signal(SIGTERM) }
            try await until("it leaves the tag") {
                world.observer.document("jacquard/bridge/cellar/info")["elsewhere"] as? [String] == ["0001"]
            }
            // The tag is in range of the other one before the first one notices.
            tags.type("in-range 0001")
            world.simulator.type("out-of-range 0001")
            try await until("it is at the other one") { world.has("cellar") }
            try await until("the first one leaves it") {
                world.observer.document(World.bridge + "/info")["elsewhere"] as? [String] == ["0001"]
            }
            try await until("it is still there") { world.has("cellar") }
            try await world.stopBroker()
            world.observer.forget()
            try await world.startBroker()
            try await until("everything is back") {
                world.has("cellar") && world.observer.latest(World.bridge + "/state") == "online"
                    && world.observer.document(World.bridge + "/info")["elsewhere"] as? [String] == ["0001"]
            }
            tags.type("out-of-range 0001")
            world.simulator.type("in-range 0001")
            try await until("it is at the first one") { world.has("attic") }
            try await until("the other one leaves it") {
                world.observer.document("jacquard/bridge/cellar/info")["elsewhere"] as? [String] == ["0001"]
            }
            try await until("it is still there") { world.has("attic") }
        }
    }

    @Test("on one adapter don't share a link: the second one reports that the tag is in use, and waits")
    func oneAdapter() async throws {
        try await inWorld { world in
            try await world.connected()
            let ends = world.told("disconnected").count
            let cellar = try world.anotherBridge("cellar", tag: "0001", mqtt: "  base_topic: cellar\n")
            defer { cellar.signal(SIGTERM) }
            var error: [String: Any] {
                world.observer.document("cellar/tag/0001/connection")["error"] as? [String: Any] ?? [:]
            }
            try await until("the error") { error["code"] as? String == "in_use" }
            let command = #"{"state":"ON","ttl_ms":0}"#
            try world.observer.publish("cellar/tag/0001/led/set", command)
            try await until("the result") { world.finals("cellar/tag/0001/led/result").count == 1 }
            #expect(World.code(of: world.finals("cellar/tag/0001/led/result")[0]) == "in_use")
            try await until("several attempts") {
                world.results("cellar/tag/0001/connection").count { ($0["attempt"] as? Int ?? 0) >= 4 } > 0
            }
            #expect(world.told("disconnected").count == ends)
            try await world.isOfUse()
            world.daemon.signal(SIGTERM)
            try await until("the other one has it", within: .seconds(20)) {
                world.observer.latest("cellar/tag/0001/availability") == "online"
            }
        }
    }
}

extension World {
    fileprivate static let availability = "jacquard/tag/0001/availability"

    /// The level of the tag's battery; nil while it is unknown.
    fileprivate var level: Int? { observer.document("jacquard/tag/0001/battery")["level"] as? Int }

    /// The tag's facts that stay the same while it is connected.
    fileprivate var facts: [String: String?] {
        let topics = ["availability", "battery/level", "gear", "info", "touch_mode", "led"]
        return Dictionary(
            uniqueKeysWithValues: topics.map { topic in
                guard topic == "gear" else { return (topic, observer.latest("jacquard/tag/0001/" + topic)) }
                return (topic, observer.document("jacquard/tag/0001/gear")["product"] as? String)
            })
    }

    /// Whether all facts say that the tag is connected to a bridge.
    func has(_ bridge: String) -> Bool {
        isConnected("0001") && level != nil
            && observer.document("jacquard/tag/0001/info")["bridge"] as? String == bridge
            && observer.document("jacquard/tag/0001/gear")["attached"] as? Bool == true
    }

    /// Starts another bridge on the same bus and broker, with a tag of its own.
    func anotherBridge(
        _ instance: String, tag: String, _ variables: [String: String] = [:], mqtt: String = "", settings: String = ""
    ) throws -> Program {
        let file = try folder.write(
            "\(instance).yaml",
            "instance: \(instance)\nmqtt:\n  port: \(broker.port)\n\(mqtt)tags:\n  - serial: \(tag)\n\(settings)")
        return try Program(
            Program.buildFolder + "/jacquard2mqtt",
            ["run", "--config", file, "--state", folder.path + "/" + instance],
            environment: environment.merging(variables) { $1 })
    }
}
