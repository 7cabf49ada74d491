import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Chords")
struct ChordTests {
    private static let tapIn = """
        chords:
          - name: tap_in
            of: [double_tap, brush_in]
            within_ms: 5000
        """
    private static let exclusive = tapIn + "\n    exclusive: true"

    private static func topic(_ tag: String) -> String { "jacquard/tag/\(tag)/gesture" }

    @LoopActor
    private static func events(_ world: World, _ tag: String = "0001") -> [[String: Any]] {
        world.observer.payloads(of: topic(tag)).map(Observer.object)
    }

    @LoopActor
    private static func names(_ world: World, _ tag: String = "0001") -> [String] {
        events(world, tag).compactMap { $0["event_type"] as? String }
    }

    @LoopActor
    private static func gestures(_ world: World, _ names: String..., of tag: String = "0001") async throws {
        for name in names { try await world.simulate("gesture \(tag) \(name)") }
    }

    @Test("are published after their gestures, for each tag, and announced to Home Assistant")
    func chord() async throws {
        try await inWorld(WorldPlan(tags: 2, settings: Self.tapIn)) { world in
            try await world.connected(1...2)
            try await until("the announcement") {
                world.observer.latest("homeassistant/device/jacquard_tag_0001/config")?.contains("trigger_tap_in")
                    == true
            }
            try await Self.gestures(world, "double_tap")
            try await Self.gestures(world, "double_tap", "cover", "brush_in", of: "0002")
            try await Self.gestures(world, "brush_in")
            try await until("the events of both") {
                Self.names(world).count == 3 && Self.names(world, "0002").count == 3
            }
            #expect(Self.names(world) == ["double_tap", "brush_in", "tap_in"])
            #expect(Self.names(world, "0002") == ["double_tap", "cover", "brush_in"])
            let chord = try #require(Self.events(world).last)
            #expect(chord["of"] as? [Int] == [1, 2])
            #expect(chord["seq"] as? Int == 3)
            #expect(chord["gesture"] is NSNull)
        }
    }

    @Test("that are exclusive replace their gestures without losing one")
    func exclusive() async throws {
        try await inWorld(WorldPlan(settings: Self.exclusive)) { world in
            try await world.connected()
            try await Self.gestures(world, "double_tap", "brush_in", "double_tap", "cover", "double_tap")
            try await until("the released ones") { Self.names(world).count == 3 }
            #expect(Self.names(world) == ["tap_in", "double_tap", "cover"])
            #expect(Self.events(world).map { $0["seq"] as? Int } == [3, 4, 5])
            // The last gesture is held back until its time has passed.
            try await until("the last gesture") { Self.names(world).count == 4 }
            #expect(Self.names(world).last == "double_tap")
            #expect(Self.events(world).last?["seq"] as? Int == 6)
        }
    }

    @Test("change by a reload during a chord, without a lost gesture or a remaining trigger")
    func reload() async throws {
        try await inWorld(WorldPlan(settings: Self.exclusive)) { world in
            try await world.connected()
            try await until("the announcement") {
                world.observer.latest("homeassistant/device/jacquard_tag_0001/config")?.contains("trigger_tap_in")
                    == true
            }
            try await Self.gestures(world, "double_tap")
            try await world.reload(WorldPlan(settings: "defaults:\n  led_on_s: 3\n" + Self.exclusive))
            try await Self.gestures(world, "brush_in")
            try await until("the chord") { Self.names(world) == ["tap_in"] }
            try await Self.gestures(world, "double_tap")
            try await world.reload(WorldPlan())
            try await until("the gesture that was held back") { Self.names(world) == ["tap_in", "double_tap"] }
            try await Self.gestures(world, "brush_in")
            try await until("the last gesture") { Self.names(world).count == 3 }
            #expect(Self.names(world).last == "brush_in")
            let announced = try #require(world.observer.latest("homeassistant/device/jacquard_tag_0001/config"))
            #expect(!announced.contains("tap_in"))
            let removal = world.observer.payloads(of: "homeassistant/device/jacquard_tag_0001/config")
                .filter { $0.contains(#""trigger_tap_in":{"platform":"device_automation"}"#) }
            #expect(removal.count == 1)
        }
    }
}
