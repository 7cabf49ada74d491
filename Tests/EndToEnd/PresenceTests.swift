import EventLoop
import TestSupport
import Testing

@Suite("Presence")
struct PresenceTests {
    private static let topic = "jacquard/tag/0001/presence"

    private static func plan(_ options: [String]) -> WorldPlan {
        var plan = WorldPlan()
        plan.options = options
        plan.settings = "presence:\n  away_after_s: 10"
        return plan
    }

    @LoopActor
    private static func state(_ world: World, _ state: String, isInferred: Bool) async throws {
        try await until("the tag is \(state)") {
            let document = world.observer.document(topic)
            return document["state"] as? String == state && document["inferred"] as? Bool == isInferred
        }
    }

    @Test("follows a tag that sleeps, wakes, walks away and comes back, with the reasons of BlueZ")
    func reasons() async throws {
        try await inWorld(Self.plan(["--disconnect-reasons"])) { world in
            try await world.connected()
            try await Self.state(world, "here", isInferred: false)
            try await world.simulate("sleep 0001")
            try await Self.state(world, "asleep", isInferred: false)
            #expect(world.observer.document("jacquard/tag/0001/connection")["ended"] as? String == "remote")
            #expect(world.observer.document(World.bridge + "/health")["status"] as? String == "ok")
            try await world.simulate("move 0001")
            try await Self.state(world, "here", isInferred: false)
            try await world.connected()
            try await world.simulate("out-of-range 0001")
            try await Self.state(world, "gone", isInferred: false)
            #expect(world.observer.document("jacquard/tag/0001/connection")["ended"] as? String == "timeout")
            #expect(world.connectionError()["bluez"] as? String == "org.bluez.Reason.Timeout")
            try await world.stopAndStartDaemon()
            try await Self.state(world, "gone", isInferred: true)
            try await world.simulate("in-range 0001")
            try await Self.state(world, "here", isInferred: false)
            try await world.succeeds(World.bridge + "/request/forget", #"{"id":"0001"}"#)
            try await until("the topic is cleared") { world.observer.latest(Self.topic) == "" }
        }
    }

    @Test("is inferred without them, and a restart changes nothing")
    func inferred() async throws {
        try await inWorld(Self.plan([])) { world in
            try await world.connected()
            try await world.stopAndStartDaemon()
            #expect(world.observer.payloads(of: Self.topic).allSatisfy { $0.contains(#""state":"here""#) })
            try await world.connected()
            try await world.succeeds("jacquard/tag/0001/sleep/set", #"{"wake_on_motion":true}"#)
            try await Self.state(world, "asleep", isInferred: false)
            try await world.simulate("move 0001")
            try await world.connected()
            try await world.simulate("out-of-range 0001")
            try await Self.state(world, "gone", isInferred: true)
        }
    }
}
