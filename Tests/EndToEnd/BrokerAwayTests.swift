import EventLoop
import Foundation
import MQTTTypes
import TestSupport
import Testing

@Suite("While the broker is away the bridge")
struct BrokerAwayTests {
    private static let gesture = "jacquard/tag/0001/gesture"

    @Test("keeps its tags connected, and loses nothing after a pause of the broker")
    func frozenBroker() async throws {
        try await inWorld { world in
            try await world.connected()
            world.broker.daemon.signal(SIGSTOP)
            for name in ["brush_in", "brush_out", "cover"] { try await world.simulate("gesture 0001 \(name)") }
            try await world.simulate("out-of-range 0001")
            try await until("the link is down") { world.told("disconnected").count == 1 }
            try await world.simulate("in-range 0001")
            try await until("the bridge has made it again") { world.told("subscribed").count >= 6 }
            world.broker.daemon.signal(SIGCONT)
            try await world.recovers(from: "broker frozen, not given up") {
                world.observer.payloads(of: Self.gesture).count == 3
            }
            let events = world.observer.payloads(of: Self.gesture).map(Observer.object)
            #expect(events.compactMap { $0["event_type"] as? String } == ["brush_in", "brush_out", "cover"])
            try await until("the tag is back") { world.isConnected("0001") }
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            let health = try await world.succeeds(World.bridge + "/request/health")
            #expect(health["broker_reconnects"] as? Int == 0)
        }
    }

    @Test("reconnects, and publishes everything")
    func silentBroker() async throws {
        try await inWorld(WorldPlan(mqtt: ["keepalive_s: 5"])) { world in
            try await world.connected()
            world.broker.daemon.signal(SIGSTOP)
            try await until("the bridge has noticed", within: .seconds(30)) {
                world.daemon.printed.split(separator: "\n").contains { $0.contains("mqtt") && $0.contains("lost") }
                    || world.daemon.printed.contains("no connection")
            }
            world.broker.daemon.signal(SIGCONT)
            world.observer.forget()
            try await world.recovers(from: "broker frozen for longer than the keep-alive", within: .seconds(60)) {
                world.observer.latest(World.bridge + "/state") == "online"
                    && world.observer.latest("jacquard/tag/0001/info") != nil
            }
            let health = try await world.succeeds(World.bridge + "/request/health")
            #expect(try #require(health["broker_reconnects"] as? Int) >= 1)
        }
    }

    @Test("connects once more when it stops, so that nothing says online any more")
    func stopsWithoutConnection() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.stopBroker()
            world.observer.forget()
            // The bridge finds both when it goes on: the signal, and a broker that is back before its pause is over.
            try await world.startBroker { $0.signal(SIGTERM) }
            try await until("the end of the bridge") { !world.daemon.isRunning }
            #expect(world.daemon.printed.contains("stopped"))
            try await world.observer.catchUp()
            #expect(world.observer.latest(World.bridge + "/state") == "offline")
            #expect(world.observer.latest("jacquard/tag/0001/availability") == "offline")
        }
    }

    @Test("ends when it is to stop, though the broker stays away")
    func stopsWithoutBroker() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.stopBroker()
            world.daemon.signal(SIGTERM)
            try await until("the end of the bridge") { !world.daemon.isRunning }
            #expect(world.daemon.printed.contains("stopped"))
        }
    }

    @Test("drops expired gestures, counts them, and delivers the others in order")
    func gesturesWhileBrokerAway() async throws {
        let count = 200
        try await inWorld(WorldPlan(settings: "limits:\n  gestures_while_broker_away_s: 2")) { world in
            try await world.connected()
            try await world.stopBroker()
            world.observer.forget()
            let begin = ContinuousClock.now
            try await world.simulate("gesture 0001 cycle \(count) 20")
            try await until("some are too old") { .now - begin > .milliseconds(3500) }
            try await world.startBroker()
            try await until("the last one", within: .seconds(40)) {
                world.observer.payloads(of: Self.gesture).last.map(Observer.object)?["seq"] as? Int == count
            }
            try await until("its statistics") {
                world.observer.document("jacquard/tag/0001/stats")["last_seq"] as? Int == count
            }
            let expired = try #require(world.observer.document("jacquard/tag/0001/stats")["expired"] as? Int)
            let numbers = world.observer.payloads(of: Self.gesture).map(Observer.object).compactMap {
                $0["seq"] as? Int
            }
            #expect(expired > 0)
            try await until("the health document has both") {
                let health = world.observer.document(World.bridge + "/health")
                return health["broker_reconnects"] as? Int == 1 && health["dropped"] as? Int == expired
            }
            #expect(numbers == Array((expired + 1)...count))
            #expect(world.problems == ["events_dropped"])
        }
    }

    @Test("keeps recent gestures, which are delivered after the facts, in order")
    func youngGestures() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.stopBroker()
            world.observer.forget()
            let names = ["double_tap", "brush_in", "brush_out", "cover"]
            for name in names { try await world.simulate("gesture 0001 \(name)") }
            try await world.startBroker()
            try await world.recovers(from: "broker away, young gestures") {
                world.observer.payloads(of: Self.gesture).count == names.count
            }
            let events = world.observer.payloads(of: Self.gesture).map(Observer.object)
            #expect(events.compactMap { $0["event_type"] as? String } == names)
            let facts = world.observer.messages.firstIndex { $0.topic == "jacquard/tag/0001/stats" }
            let first = world.observer.messages.firstIndex { $0.topic == Self.gesture }
            #expect(try #require(facts) < #require(first))
            let state = world.observer.messages.firstIndex { $0.topic == World.bridge + "/state" }
            #expect(try #require(state) < #require(facts))
        }
    }
}
