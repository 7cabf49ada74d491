import EventLoop
import Foundation
import MQTTTypes
import TestSupport
import Testing

@Suite("A broker that refuses")
struct BrokerRefusalTests {
    /// Lets everybody do everything but what is listed, in a file that the broker may read.
    private static func rules(in folder: ScratchFolder, denying topics: String...) throws -> String {
        let lines = ["topic readwrite #"] + topics.map { "topic deny " + $0 }
        let file = try folder.write("acl", lines.joined(separator: "\n") + "\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        return file
    }

    @Test("a topic loses only that one, named in log and health, until it is allowed")
    func publication() async throws {
        let folder = try ScratchFolder()
        let file = try Self.rules(in: folder, denying: "jacquard/tag/0001/battery/level")
        try await inWorld(WorldPlan(broker: ["acl_file \(file)"])) { world in
            try await world.connected()
            try await until("it is in the log") {
                world.daemon.printed.contains("the broker refuses a message topic=jacquard/tag/0001/battery/level")
            }
            try await until("it is in the health") {
                world.observer.latest(World.bridge + "/health")?.contains("to jacquard/tag/0001/battery/level") == true
            }
            #expect(world.problems.contains("broker_refuses"))
            try await world.isOfUse()
            #expect(world.observer.latest("jacquard/tag/0001/battery/level") == nil)
            #expect(world.observer.latest("jacquard/tag/0001/battery") != nil)
            _ = try Self.rules(in: folder)
            world.broker.daemon.signal(SIGHUP)
            try await world.settled()
            try await world.simulate("battery 0001 41")
            try await world.recovers(from: "topic refused by the access list") {
                world.observer.latest("jacquard/tag/0001/battery/level") == "41"
            }
        }
    }

    @Test("a response topic causes no problem of the bridge")
    func answer() async throws {
        let folder = try ScratchFolder()
        let file = try Self.rules(in: folder, denying: "nobody/hears/this")
        try await inWorld(WorldPlan(broker: ["acl_file \(file)"])) { world in
            try await world.connected()
            let topic = "jacquard/tag/0001/led/set"
            var message = MQTTMessage(topic: topic, payload: Array("flash".utf8), qos: .atLeastOnce)
            message.responseTopic = "nobody/hears/this"
            let result = try await world.command(message)
            #expect(result["status"] as? String == "ok")
            try await until("it is in the log") { world.daemon.printed.contains("nobody/hears/this") }
            let health = try await world.succeeds("\(World.bridge)/request/health")
            #expect(health["status"] as? String == "ok", "\(health)")
        }
    }

    @Test("messages above a size, which it has announced, loses only these, named in log and health")
    func size() async throws {
        // The discovery documents are larger.
        try await inWorld(WorldPlan(broker: ["max_packet_size 2000"])) { world in
            try await world.connected()
            try await world.logs("the broker refuses a message topic=homeassistant/device/")
            try await until("the problem") { world.problems == ["broker_refuses"] }
            try await world.isOfUse()
            let health = try await world.succeeds("\(World.bridge)/request/health")
            #expect(health["broker_reconnects"] as? Int == 0)
        }
    }

    @Test("commands still receives facts and gestures")
    func subscription() async throws {
        let folder = try ScratchFolder()
        let file = try Self.rules(in: folder, denying: "jacquard/tag/+/+/set")
        try await inWorld(WorldPlan(broker: ["acl_file \(file)"])) { world in
            try await world.connected()
            try await world.simulate("gesture 0001 cover")
            try await until("a gesture") { world.observer.latest("jacquard/tag/0001/gesture") != nil }
            try await world.settled()
        }
    }

    @Test("to read delays the stop of the bridge by at most five seconds")
    func stopWhileFrozen() async throws {
        try await inWorld { world in
            try await world.connected()
            world.broker.daemon.signal(SIGSTOP)
            try await world.simulate("gesture 0001 cover")
            let watch = Stopwatch()
            world.daemon.signal(SIGTERM)
            try await until("its end") { !world.daemon.isRunning }
            #expect(watch.isWithin(.seconds(5)))
            #expect(world.daemon.exitStatus == 0)
            try await until("the link is down") { world.told("disconnected").count == 1 }
            world.broker.daemon.signal(SIGCONT)
            try await world.recovers(from: "SIGTERM while the broker is frozen, then thawed") {
                world.observer.latest(World.bridge + "/state") == "offline"
            }
        }
    }
}
