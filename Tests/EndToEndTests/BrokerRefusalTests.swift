import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("A broker that refuses")
struct BrokerRefusalTests {
    /// Lets everybody do everything but what is listed.
    private static func accessList(denying topics: String...) -> String {
        (["topic readwrite #"] + topics.map { "topic deny " + $0 }).joined(separator: "\n") + "\n"
    }

    @Test("a topic loses that one alone, which is in the log once for each message; then it is allowed")
    func publication() async throws {
        let folder = try ScratchFolder()
        let file = try folder.write("acl", Self.accessList(denying: "jacquard/tag/0001/battery/level"))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        try await inWorld(WorldPlan(broker: ["acl_file \(file)"])) { world in
            try await world.connected()
            try await until("it is in the log") { world.daemon.printed.contains("the broker refuses a message") }
            try await world.isOfUse()
            #expect(world.observer.latest("jacquard/tag/0001/battery/level") == nil)
            #expect(world.observer.latest("jacquard/tag/0001/battery") != nil)
            _ = try folder.write("acl", Self.accessList())
            world.broker.daemon.signal(SIGHUP)
            try await world.settled()
            try await world.simulate("battery 0001 41")
            try await world.recovers(from: "topic refused by the access list") {
                world.observer.latest("jacquard/tag/0001/battery/level") == "41"
            }
        }
    }

    @Test("to carry commands lets facts and gestures through")
    func subscription() async throws {
        let folder = try ScratchFolder()
        let file = try folder.write("acl", Self.accessList(denying: "jacquard/tag/+/+/set"))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        try await inWorld(WorldPlan(broker: ["acl_file \(file)"])) { world in
            try await world.connected()
            try await world.simulate("gesture 0001 cover")
            try await until("a gesture") { world.observer.latest("jacquard/tag/0001/gesture") != nil }
            try await world.settled()
        }
    }

    @Test("to read what it is told while it is frozen delays no stop of the bridge: five seconds at most")
    func stopWhileFrozen() async throws {
        try await inWorld { world in
            try await world.connected()
            world.broker.daemon.signal(SIGSTOP)
            try await world.simulate("gesture 0001 cover")
            let begin = ContinuousClock.now
            world.daemon.signal(SIGTERM)
            try await until("its end") { !world.daemon.isRunning }
            #expect(ContinuousClock.now - begin < .seconds(5))
            #expect(world.daemon.exitStatus == 0)
            try await until("the link is down") { world.told("disconnected").count == 1 }
            world.broker.daemon.signal(SIGCONT)
            try await world.recovers(from: "SIGTERM while the broker is frozen, then thawed") {
                world.observer.latest(World.bridge + "/state") == "offline"
            }
        }
    }
}
