import EventLoop
import Glibc
import MQTTTypes
import TestSupport
import Testing

@Suite("When a node of the broker is killed the bridge")
struct FailoverTests {
    private static let gesture = "jacquard/tag/0001/gesture"

    @Test(
        "continues at the next node with all facts, and each gesture and result once", arguments: ["auto", "3.1.1"])
    func killed(version: String) async throws {
        let count = 100
        try await inWorld(WorldPlan(mqtt: ["version: \(version)"], nodes: 3)) { world in
            // Nothing listens at the second node when it is needed.
            world.otherNodes[0].daemon.signal(SIGKILL)
            let next = try await Observer(port: world.otherNodes[1].port)
            try await world.connected()
            try await world.simulate("gesture 0001 cycle \(count) 50")
            try await until("some gestures") { world.observer.payloads(of: Self.gesture).count >= 10 }
            try await world.simulate("fault 0001 delay 1500 once")
            let received = world.told("led").count
            try world.observer.publish("jacquard/tag/0001/led/set", #"{"id":"pending","flash":1}"#)
            try await until("the tag has the command") { world.told("led").count > received }
            // The node sends a slow client 20 messages at a time: others that it has acknowledged would end with it.
            try await world.observer.catchUp()
            // The kernel discards what a killed process has sent and the observer has not read. So the node sends nothing
            // more, and the observer reads the rest while messages travel to the other node and back.
            world.broker.daemon.signal(SIGSTOP)
            for number in 1...10 {
                try next.publish("probe/\(number)", "")
                try await until("a message from the other node") { next.latest("probe/\(number)") != nil }
            }
            let watch = Stopwatch()
            world.broker.daemon.signal(SIGKILL)
            try await until("the bridge is at the next node") { next.latest(World.bridge + "/state") == "online" }
            #expect(watch.isWithin(.seconds(5)))
            try await until("the last gesture") {
                next.payloads(of: Self.gesture).last.map(Observer.object)?["seq"] as? Int == count
            }
            // At most the unacknowledged gestures are at both nodes.
            let (before, after) = (numbers(world.observer), numbers(next))
            #expect(Set(before + after) == Set(1...count))
            #expect(before == Array(1...before.count))
            #expect(after == Array((count - after.count + 1)...count))
            try await until("the result") { !finals(next).isEmpty }
            try await until("a later result") {
                (try? next.publish("jacquard/tag/0001/battery/get", "")) != nil
                    && !next.payloads(of: "jacquard/tag/0001/battery/result").isEmpty
            }
            #expect(finals(next) == ["pending"])
            #expect(finals(world.observer).isEmpty)
            #expect(retained(next).isSuperset(of: retained(world.observer)))
            #expect(next.document(World.bridge + "/info")["node"] as? String == "127.0.0.1:\(world.otherNodes[1].port)")
            await next.stop()
        }
    }

    @LoopActor
    private func numbers(_ observer: Observer) -> [Int] {
        observer.payloads(of: Self.gesture).compactMap { Observer.object($0)["seq"] as? Int }
    }

    /// The ids of the final results of LED commands.
    @LoopActor
    private func finals(_ observer: Observer) -> [String] {
        observer.payloads(of: "jacquard/tag/0001/led/result").map(Observer.object)
            .filter { $0["final"] as? Bool == true }.compactMap { $0["id"] as? String }
    }

    /// The topics with a fact.
    @LoopActor
    private func retained(_ observer: Observer) -> Set<String> {
        let others = ["/result", "/gesture", "/motion", "/event", "/pairing"]
        return Set(observer.messages.filter { !$0.payload.isEmpty }.map(\.topic))
            .filter { topic in !others.contains { topic.hasSuffix($0) } && !topic.hasSuffix("/set") }
    }
}
