import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("A broker that fails")
struct BrokerFaultTests {
    private static let gesture = "jacquard/tag/0001/gesture"

    @Test("at startup does not affect the tags, and everything is published when it starts")
    func missing() async throws {
        try await inWorld { world in
            try await world.connected()
            world.daemon.signal(SIGTERM)
            try await until("its end") { !world.daemon.isRunning }
            try await until("the link is down") { world.told("disconnected").count == 1 }
            try await world.stopBroker()
            world.observer.forget()
            let subscriptions = world.told("subscribed").count
            try world.restartDaemon()
            try await until("the tag is subscribed without a broker") {
                world.told("subscribed").count >= subscriptions + 3
            }
            try await world.startBroker()
            try await world.recovers(from: "no broker at the start") { world.isConnected("0001") }
            try await world.isOfUse()
        }
    }

    @Test("and restarts with its store has stale facts only until the bridge has reconnected")
    func withStore() async throws {
        let store = try ScratchFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: store.path)
        let plan = WorldPlan(broker: ["persistence_location \(store.path)/", "persistence true"])
        try await inWorld(plan) { world in
            try await world.connected()
            try await world.stopBroker()
            try await world.simulate("battery 0001 42")
            world.observer.forget()
            try await world.startBroker()
            try await world.recovers(from: "broker restarted with its store") {
                world.isConnected("0001") && world.observer.latest("jacquard/tag/0001/battery/level") == "42"
            }
            try await world.isOfUse()
        }
    }

    @Test("by closing its connections is connected again; the tags stay connected")
    func reset() async throws {
        try await inWorld(WorldPlan(isBehindProxy: true)) { world in
            let proxy = try #require(world.proxy)
            try await world.connected()
            world.observer.forget()
            let accepted = proxy.accepted
            proxy.reset()
            try await world.recovers(from: "connection to the broker reset") {
                world.isConnected("0001") && world.observer.latest(World.bridge + "/state") == "online"
            }
            #expect(proxy.accepted > accepted)
            try await world.isOfUse()
            #expect(world.told("disconnected").isEmpty)
        }
    }

    @Test(
        "by not answering is disconnected after one and a half keep-alive intervals; recent gestures are delivered in order"
    )
    func blackHole() async throws {
        let plan = WorldPlan(
            mqtt: ["keepalive_s: 5"], settings: "limits:\n  gestures_while_broker_away_s: 60", isBehindProxy: true)
        try await inWorld(plan) { world in
            let proxy = try #require(world.proxy)
            try await world.connected()
            proxy.set(.swallows)
            let accepted = proxy.accepted
            let names = ["double_tap", "brush_in", "brush_out"]
            for name in names { try await world.simulate("gesture 0001 \(name)") }
            try await until("the bridge has given it up", within: .seconds(30)) { proxy.accepted > accepted }
            world.observer.forget()
            proxy.set(.passes)
            // What a black hole has half swallowed makes no sense to either end.
            proxy.reset()
            try await world.recovers(from: "black hole for longer than the keep-alive", within: .seconds(60)) {
                world.isConnected("0001") && world.observer.payloads(of: Self.gesture).count >= names.count
            }
            let words = world.results(Self.gesture).compactMap { $0["event_type"] as? String }
            #expect(words == names)
            #expect(world.told("disconnected").isEmpty)
        }
    }

    @Test("by answering pings but acknowledging nothing is reported until it acknowledges again")
    func stalled() async throws {
        try await inWorld(WorldPlan(isBehindProxy: true)) { world in
            let proxy = try #require(world.proxy)
            try await world.connected()
            try await world.settled()
            proxy.set(.withholdsAcknowledgements)
            let accepted = proxy.accepted
            try await world.simulate("gesture 0001 cover")
            try await until("the problem is reported", within: .seconds(180)) {
                world.problems.contains("broker_stalled")
            }
            #expect(proxy.accepted == accepted)
            proxy.set(.passes)
            // Acknowledgements that never came are made up for on the next connection.
            proxy.reset()
            try await world.recovers(from: "broker that acknowledges nothing") {
                !world.problems.contains("broker_stalled")
            }
            try await world.isOfUse()
        }
    }

    @Test("to deliver a command for a while has it executed once, after the reconnection")
    func commandMeanwhile() async throws {
        try await inWorld(WorldPlan(mqtt: ["keepalive_s: 5"], isBehindProxy: true)) { world in
            let proxy = try #require(world.proxy)
            try await world.connected()
            proxy.set(.swallows)
            let accepted = proxy.accepted
            proxy.reset()
            try world.observer.publish("jacquard/tag/0001/led/set", #"{"id":"late","flash":1}"#)
            try await until("the bridge tries in vain") { proxy.accepted > accepted }
            proxy.set(.passes)
            proxy.reset()
            try await world.recovers(from: "bridge cut off, a command meanwhile") {
                !world.finals("jacquard/tag/0001/led/result").isEmpty
            }
            #expect(world.finals("jacquard/tag/0001/led/result")[0]["id"] as? String == "late")
            try await world.isOfUse()
            #expect(world.finals("jacquard/tag/0001/led/result").count == 2)
            try await until("the report of the simulator") { world.told("led").count == 2 }
        }
    }

    @Test("by being slow receives everything in order, without slowing the tags")
    func slow() async throws {
        let count = 30
        // On a busy machine, the proxy passes less than a gesture a second.
        let plan = WorldPlan(tags: 2, settings: "limits:\n  gestures_while_broker_away_s: 60", isBehindProxy: true)
        try await inWorld(plan) { world in
            let proxy = try #require(world.proxy)
            try await world.connected(1...2)
            proxy.set(.trickles)
            try await world.simulate("gesture 0001 cycle \(count) 20")
            try await world.simulate("out-of-range 0002")
            try await until("the link is down") { world.told("disconnected").count == 1 }
            try await world.simulate("in-range 0002")
            try await until("the bridge has made it again") {
                world.told("connected").count { $0["tag"] as? String == "0002" } == 2
            }
            try await world.recovers(from: "broker slow as syrup, until the last of 30 gestures", within: .seconds(60))
            {
                world.results(Self.gesture).last?["seq"] as? Int == count
            }
            #expect(world.results(Self.gesture).compactMap { $0["seq"] as? Int } == Array(1...count))
            proxy.set(.passes)
            try await until("the other tag is back") { world.isConnected("0002") }
            try await world.isOfUse()
        }
    }
}
