import EventLoop
import TestSupport
import Testing

@Suite("The touch mode slide")
struct SlideModeTests {
    private static let tag = "jacquard/tag/0001"

    @LoopActor
    private static func slides<Value>(_ world: World, _ key: String) -> [Value] {
        world.observer.payloads(of: tag + "/slide").compactMap { Observer.object($0)[key] as? Value }
    }

    @LoopActor
    private static func phases(_ world: World) -> [String] { slides(world, "phase") }

    @Test("a finger that slides over the gear is published, also after the link was lost")
    func life() async throws {
        var plan = WorldPlan()
        plan.settings = "slide: {enabled: true}"
        try await inWorld(plan) { world in
            try await world.connected()
            try await world.succeeds(Self.tag + "/touch_mode/set", "slide")
            try await until("the mode") { world.observer.latest(Self.tag + "/touch_mode") == "slide" }
            try await world.simulate("stroke 0001 10 90 600 800")
            try await until("the end") { Self.phases(world).last == "end" }
            let phases = Self.phases(world)
            #expect(phases.first == "begin" && phases.filter { $0 == "hold" }.count == 1, "\(phases)")
            #expect(phases.filter { $0 == "move" }.count >= 3, "\(phases)")
            let places = Self.slides(world, "position") as [Int]
            #expect(places == places.sorted() && (places.last ?? 0) >= 85, "\(places)")
            #expect(world.observer.payloads(of: Self.tag + "/touch").isEmpty)
            try await world.simulate("out-of-range 0001")
            try await until("the loss") { world.observer.latest(Self.tag + "/availability") == "offline" }
            try await world.simulate("in-range 0001")
            try await until("the mode again") { world.told("touch_mode").count >= 4 }
            #expect(
                world.told("touch_mode").compactMap { $0["mode"] as? String }.suffix(2) == ["gesture", "continuous"])
            try await until("the mode") { world.observer.latest(Self.tag + "/touch_mode") == "slide" }
            try await world.simulate("stroke 0001 90 10")
            try await until("the other slide") { Self.phases(world).filter { $0 == "end" }.count == 2 }
        }
    }
}
