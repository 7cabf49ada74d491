import EventLoop
import TestSupport
import Testing

@Suite("Signals")
struct NotifyTests {
    private static let tag = "jacquard/tag/0001"

    @Test("a tag plays signals from the configuration and from reflexes")
    func life() async throws {
        var plan = WorldPlan()
        plan.settings = """
            signals:
              - name: tea
                led: {color: green, pattern: breathing, duration_ms: 4000}
                haptic: short
            reflexes:
              - on: brush_in
                do: notify tea
            """
        try await inWorld(plan) { world in
            try await world.connected()
            let lights = world.told("led").count
            try await world.succeeds(Self.tag + "/notify/set", "tea")
            #expect(world.told("led").dropFirst(lights).last?["pattern"] as? String == "breathing")
            try await world.succeeds(Self.tag + "/notify/set", #"{"message":"default"}"#)
            #expect(world.told("led").last?["pattern"] as? String == "double_blink")
            try await world.simulate("gesture 0001 brush_in")
            try await until("the result of the reflex") {
                world.observer.document(Self.tag + "/reflex/result")["status"] as? String == "ok"
            }
            #expect(world.told("led").last?["pattern"] as? String == "breathing")
        }
    }
}
