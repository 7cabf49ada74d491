import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Reflexes")
struct ReflexTests {
    private static let settings = """
        limits:
          gestures_while_broker_away_s: 1
        chords:
          - name: tap_in
            of: [double_tap, brush_in]
            within_ms: 5000
        reflexes:
          - on: double_tap
            do: led flash
          - on: tap_in
            do: led green
            tag: 0002
          - gear: attached
            do: haptic short
          - battery_below: 15
            do: 'led {"color": "red", "pattern": "breathing", "duration_ms": 500}'
            cooldown_ms: 0
          - broker: lost
            do: led orange
            tag: 0002
          - broker: back
            do: led blue
            tag: 0002
        """

    private static func result(_ tag: String) -> String { "jacquard/tag/\(tag)/reflex/result" }

    /// The ids of the results of a tag.
    @LoopActor
    private static func results(_ world: World, _ tag: String) -> [String] {
        world.results(result(tag)).filter { $0["status"] as? String == "ok" }.compactMap { $0["id"] as? String }
    }

    /// The number of LED commands that a tag has received.
    @LoopActor
    private static func lights(_ world: World, _ tag: String) -> Int {
        world.told("led").filter { $0["tag"] as? String == tag }.count
    }

    @Test("give commands of gestures, chords, gear and the battery to this and another tag")
    func triggers() async throws {
        try await inWorld(WorldPlan(tags: 2, settings: Self.settings)) { world in
            try await world.connected(1...2)
            try await world.simulate("gesture 0001 double_tap")
            try await world.simulate("gesture 0001 brush_in")
            try await until("the chord's command") { Self.results(world, "0002") == ["tap_in"] }
            try await until("the gesture's command") { Self.results(world, "0001") == ["double_tap"] }
            let lights = world.observer.payloads(of: "jacquard/tag/0001/led").map(Observer.object)
            #expect(lights.contains { $0["state"] as? String == "ON" })
            try await world.simulate("detach 0001")
            try await world.simulate("attach 0001 jacket")
            try await until("the gear's command") { Self.results(world, "0001").last == "gear attached" }
            #expect(world.told("haptic").count == 1)
            for level in [14, 13, 40, 14] { try await world.simulate("battery 0001 \(level)") }
            try await until("two crossings") {
                Self.results(world, "0001").filter { $0 == "battery_below 15" }.count == 2
            }
        }
    }

    @Test("work without a broker, and show that it is gone and back")
    func brokerAway() async throws {
        try await inWorld(WorldPlan(tags: 2, settings: Self.settings)) { world in
            try await world.connected(1...2)
            try await world.stopBroker()
            try await until("the loss is shown") { Self.lights(world, "0002") == 1 }
            try await world.simulate("gesture 0001 double_tap")
            try await until("the gesture's command") { Self.lights(world, "0001") == 1 }
            try await world.startBroker()
            try await until("the return is shown") { Self.lights(world, "0002") == 2 }
        }
    }

    @Test("of twenty tags with a hundred gestures a second each lose neither gestures nor commands")
    func load() async throws {
        let settings = "reflexes:\n  - on: double_tap\n    do: led flash\n    cooldown_ms: 500"
        try await inWorld(WorldPlan(tags: 20, settings: settings)) { world in
            try await world.connected(1...20)
            world.observer.forget()
            try await world.simulate("gesture * double_tap 200 100")
            let tags = (1...20).map(World.serial)
            try await until("all gestures", within: .seconds(120)) {
                tags.allSatisfy { world.observer.payloads(of: "jacquard/tag/\($0)/gesture").count == 200 }
            }
            try await until("a result for each command", within: .seconds(120)) {
                tags.allSatisfy { tag in
                    world.results(Self.result(tag)).count == Self.lights(world, tag)
                }
            }
            for tag in tags {
                let seen = world.observer.payloads(of: "jacquard/tag/\(tag)/gesture").map(Observer.object)
                #expect(seen.compactMap { $0["seq"] as? Int } == Array(1...200))
                let results = world.results(Self.result(tag))
                #expect(results.allSatisfy { $0["status"] as? String == "ok" })
                #expect((2...200).contains(results.count), "\(results.count)")
            }
        }
    }
}
