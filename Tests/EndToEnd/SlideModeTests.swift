import EventLoop
import Foundation
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

    @Test("with two bridges, a slide is published once, also while the tag goes from one to the other")
    func twoBridges() async throws {
        let slide = "jacquard/tag/0001/slide"
        let mode = "jacquard/tag/0001/touch_mode"
        var plan = WorldPlan(tagList: "  - serial: 0001")
        plan.settings = "slide: {enabled: true}"
        try await inWorld(plan) { world in
            @LoopActor func phases() -> [String] { world.results(slide).compactMap { $0["phase"] as? String } }
            @LoopActor func strokes() -> [String] { phases().filter { $0 == "begin" || $0 == "end" } }
            try await world.connected()
            let scenario = try world.folder.write("scenario", "out-of-range 0001\n")
            let tags = try Program(
                Program.buildFolder + "/jacquard-simulator", ["--tags", "1", "--quick", "--scenario", scenario])
            defer { tags.signal(SIGTERM) }
            try await until("the other simulator is ready") { tags.printed.contains("\nready\n") }
            let address = tags.printed.split(separator: "\n")[0].dropFirst("DBUS_SYSTEM_BUS_ADDRESS=".count)
            let cellar = try world.anotherBridge(
                "cellar", tag: "0001", ["DBUS_SYSTEM_BUS_ADDRESS": String(address)],
                settings: "slide: {enabled: true}\n")
            defer { cellar.signal(SIGTERM) }
            try await until("it leaves the tag") {
                world.observer.document("jacquard/bridge/cellar/info")["elsewhere"] as? [String] == ["0001"]
            }
            let results = mode + "/result"
            try await world.succeeds(mode + "/set", "slide")
            try await until("the mode") { world.observer.latest(mode) == "slide" }
            try await world.simulate("stroke 0001 10 90 300 0")
            try await until("the end") { strokes().last == "end" }
            // Behind the slide, if the other one had something to say about it.
            _ = try await world.command("jacquard/bridge/cellar/request/health", "")
            #expect(strokes() == ["begin", "end"])
            #expect(world.finals(results).map { $0["bridge"] as? String } == ["attic"])
            let modes = world.observer.payloads(of: mode)
            #expect(modes.last == "slide" && !modes.drop { $0 != "slide" }.contains("gesture"), "\(modes)")
            try await until("the end of the stroke") { world.told("burst").count == 1 }
            // The finger rests while the tag goes.
            try await world.simulate("stroke 0001 10 90 300 60000")
            try await until("the second stroke") { strokes().count == 3 }
            tags.type("in-range 0001")
            world.simulator.type("out-of-range 0001")
            try await until("it is at the other one") { world.has("cellar") }
            try await until("the first one leaves it") {
                world.observer.document(World.bridge + "/info")["elsewhere"] as? [String] == ["0001"]
            }
            #expect(strokes() == ["begin", "end", "begin", "end"])
            try await until("the mode of a new link") { world.observer.latest(mode) == "gesture" }
            world.observer.forget()
            try await world.succeeds(mode + "/set", "slide")
            try await until("the mode") { world.observer.latest(mode) == "slide" }
            tags.type("stroke 0001 90 10 300 0")
            try await until("the end") { strokes().last == "end" }
            _ = try await world.command(World.bridge + "/request/health", "")
            #expect(strokes() == ["begin", "end"])
            #expect(world.finals(results).map { $0["bridge"] as? String } == ["cellar"])
            let places = world.results(slide).compactMap { $0["position"] as? Int }
            #expect(places == places.sorted(by: >), "\(places)")
        }
    }
}
