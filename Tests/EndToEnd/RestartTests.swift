import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("After a restart")
struct RestartTests {
    @Test("of the broker without its store, everything is retained again")
    func facts() async throws {
        try await inWorld(tags: 3) { world in
            try await world.connected(1...3)
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            try await world.simulate("gesture 0001 cover")
            try await until("a gesture") { world.observer.latest("jacquard/tag/0001/gesture") != nil }
            try await until("what Home Assistant needs, which comes last") {
                (1...3).allSatisfy {
                    world.observer.latest("homeassistant/device/jacquard_tag_\(World.serial($0))/config") != nil
                }
            }
            let before = try await world.retainedTopics()
            #expect(before.count { $0.hasPrefix("jacquard/bridge/") } == 8)
            #expect(before.count { $0.hasPrefix("jacquard/tag/") } == 3 * 12)
            try await world.stopBroker()
            world.observer.forget()
            try await world.startBroker()
            try await world.recovers(from: "broker without its store, every retained topic") {
                before.allSatisfy { world.observer.latest($0) != nil }
            }
            let missing = before.subtracting(try await world.retainedTopics())
            #expect(missing == [])
            #expect(world.observer.latest("jacquard/tag/0001/gesture") == nil)
        }
    }

    @Test("with the ids of two tags exchanged, each command reaches the tag with the serial")
    func exchangedIDs() async throws {
        func list(_ ids: String...) -> String {
            ids.enumerated().map { "  - {serial: \(World.serial($0 + 1)), id: \($1)}" }.joined(separator: "\n")
        }
        try await inWorld(WorldPlan(tags: 2, tagList: list("a", "b"))) { world in
            try await until("both are connected") { world.isConnected("a") && world.isConnected("b") }
            try await world.stopDaemon()
            let text = WorldPlan(tags: 2, tagList: list("b", "a")).configuration(port: world.broker.port)
            _ = try world.folder.write("config.yaml", text)
            try world.restartDaemon()
            try await until("both are connected") { world.isConnected("a") && world.isConnected("b") }
            for (id, serial) in [("a", World.serial(2)), ("b", World.serial(1))] {
                let info = world.observer.document("jacquard/tag/\(id)/info")
                #expect(info["serial"] as? String == serial)
                #expect((info["uuid"] as? String)?.contains(serial) == true, "\(info)")
            }
            #expect(world.problems == [])
        }
    }

    @Test("with a tag forgotten that was paired by command and then listed, it is not known again")
    func forgottenUnderAnotherID() async throws {
        let plan = WorldPlan(tags: 2, options: ["--pairing"], tagList: "")
        try await inWorld(plan) { world in
            #expect(try await world.client("pair", "0002").status == 0)
            try await world.connected(2...2)
            try await world.reload(WorldPlan(tags: 2, tagList: "  - {serial: \"0002\", id: sleeve}"))
            try await until("the new id") { world.isConnected("sleeve") }
            try await world.succeeds("\(World.bridge)/request/forget", "sleeve")
            try await world.reload(plan)
            try await world.stopDaemon()
            try world.restartDaemon()
            try await until("the bridge knows no tag") {
                world.observer.document("\(World.bridge)/info")["tags"] as? [String] == []
            }
            #expect(try world.stored("0002") == nil && world.stored("sleeve") == nil)
        }
    }

    @Test("with an invalid state file, the file is set aside and the bridge starts")
    func damagedState() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.succeeds("jacquard/tag/0001/connection/set", "disconnect")
            world.daemon.signal(SIGTERM)
            try await until("its end") { !world.daemon.isRunning }
            _ = try world.folder.write("tags.json", "{\"tags\":[")
            world.observer.forget()
            try world.restartDaemon()
            try await world.tagReturns(after: "state file damaged")
            let files = try FileManager.default.contentsOfDirectory(atPath: world.folder.path)
            #expect(files.contains { $0.hasPrefix("tags.json") && $0 != "tags.json" })
        }
    }

    @Test("with one invalid record in the state file, the other tags are kept, and health names the record")
    func damagedRecord() async throws {
        try await inWorld(tags: 2) { world in
            try await world.connected(1...2)
            try await world.succeeds("jacquard/tag/0001/connection/set", "disconnect")
            try await world.stopDaemon()
            let path = world.folder.path + "/tags.json"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let damaged = text.replacing("[", with: #"[{"id":"lost","serial":"0009"},"#, maxReplacements: 1)
            #expect(damaged != text)
            _ = try world.folder.write("tags.json", damaged)
            world.observer.forget()
            try world.restartDaemon()
            try await world.tagReturns("0002", after: "a record of the state file damaged")
            #expect(world.observer.document("jacquard/tag/0001/connection")["state"] as? String == "disconnected")
            #expect(Set(world.problems) == ["state_damaged"])
            #expect(try String(contentsOfFile: path + ".damaged", encoding: .utf8) == damaged)
            let mended = try String(contentsOfFile: path, encoding: .utf8)
            #expect(mended.contains("0001") && !mended.contains("lost"))
        }
    }

    @Test("topics of a removed tag and of a former instance name are cleared")
    func formerTopics() async throws {
        try await inWorld(tags: 2) { world in
            try await world.connected(1...2)
            let topics = ["jacquard/tag/0002/", "homeassistant/device/jacquard_tag_0002/"]
            try await until("it is announced") { world.observer.latest(topics[1] + "config") != nil }
            try await world.stopDaemon()
            var plan = WorldPlan(tagList: "  - serial: 0001")
            _ = try world.folder.write("config.yaml", plan.configuration(port: world.broker.port))
            try world.restartDaemon()
            try await world.connected()
            try await until("the last topic of the tag is cleared") {
                world.observer.latest("jacquard/tag/0002/stats") == ""
            }
            let left = try await world.retainedTopics()
            #expect(left.filter { topic in topics.contains { topic.hasPrefix($0) } } == [])
            #expect(left.contains("homeassistant/device/jacquard_tag_0001/config"))
            try await world.stopDaemon()
            plan = WorldPlan(tagList: "  - serial: 0001")
            let renamed = plan.configuration(port: world.broker.port).replacing(
                "instance: \(World.instance)", with: "instance: cellar")
            _ = try world.folder.write("config.yaml", renamed)
            try world.restartDaemon()
            try await until("the last topic of the former name is cleared") {
                world.observer.latest(World.bridge + "/state") == ""
            }
            let kept = try await world.retainedTopics()
            let former = kept.filter {
                $0.hasPrefix(World.bridge + "/") || $0.contains("jacquard_bridge_\(World.instance)")
            }
            #expect(former == [])
            #expect(kept.contains("jacquard/bridge/cellar/state"))
            #expect(kept.contains("homeassistant/device/jacquard_tag_0001/config"))
        }
    }

    @Test("of the bridge, gestures are counted from 0, and the boot value changes")
    func counting() async throws {
        try await inWorld { world in
            var boots: Set<String> = []
            for _ in 1...2 {
                try await world.connected()
                try await world.simulate("gesture 0001 cover")
                try await until("a gesture") { world.observer.latest("jacquard/tag/0001/gesture") != nil }
                let gesture = world.observer.document("jacquard/tag/0001/gesture")
                #expect(gesture["seq"] as? Int == 1)
                let boot = try #require(gesture["boot"] as? String)
                #expect(boot.wholeMatch(of: /[1-9a-f][0-9a-f]{3}/) != nil)
                #expect(world.observer.document(World.bridge + "/info")["boot"] as? String == boot)
                boots.insert(boot)
                try await world.stopAndStartDaemon()
            }
            #expect(boots.count == 2)
        }
    }

    @Test("of a killed bridge, a tag that has left meanwhile is reported as offline, and connected when it returns")
    func goneMeanwhile() async throws {
        try await inWorld { world in
            try await world.connected()
            world.daemon.signal(SIGKILL)
            world.daemon.waitForExit()
            try await world.simulate("out-of-range 0001")
            try await until("the link is down") { world.told("disconnected").count == 1 }
            #expect(world.observer.latest("jacquard/tag/0001/availability") == "online")
            try world.restartDaemon()
            try await until("it is away, and looked for") {
                world.observer.latest("jacquard/tag/0001/availability") == "offline"
                    && world.observer.document("jacquard/tag/0001/connection")["state"] as? String
                        == "preparing_to_connect"
            }
            try await world.simulate("in-range 0001")
            try await until("it is back") { world.isConnected("0001") }
        }
    }

    @Test("with another environment, a variable takes precedence over the file")
    func environment() async throws {
        try await inWorld { world in
            let checked = try Program(
                Program.buildFolder + "/jacquard2mqtt", ["status"],
                environment: world.environment.merging(["JACQUARD2MQTT_MQTT__PORT": "1"]) { $1 })
            try await until("its end") { checked.hasEnded }
            #expect(checked.exitStatus == 3)
            #expect(try await world.run(Program.buildFolder + "/jacquard2mqtt", ["status"]).status == 0)
        }
    }
}
