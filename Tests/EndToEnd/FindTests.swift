import EventLoop
import TestSupport
import Testing

@Suite("Finding a tag")
struct FindTests {
    private static let tag = "jacquard/tag/0001"

    @Test("a tag blinks until a gesture, or until stop, each with one result")
    func life() async throws {
        try await inWorld { world in
            try await world.connected()
            #expect(world.observer.latest(Self.tag + "/find") == "off")
            try await world.succeeds(Self.tag + "/find/set", "start")
            try await until("it blinks") { world.observer.latest(Self.tag + "/find") == "on" }
            try await until("the gear vibrates") { !world.told("haptic").isEmpty }
            #expect(world.told("led").last?["pattern"] as? String == "custom")
            try await world.simulate("gesture 0001 cover")
            try await until("it is found") { world.observer.latest(Self.tag + "/find") == "off" }
            try await until("the gesture") {
                world.observer.document(Self.tag + "/gesture")["event_type"] as? String == "cover"
            }
            for word in ["start", "stop"] { try await world.succeeds(Self.tag + "/find/set", word) }
            try await until("it does not blink") {
                world.observer.payloads(of: Self.tag + "/find") == ["off", "on", "off", "on", "off"]
            }
            #expect(world.finals(Self.tag + "/find/result").count == 3)
        }
    }
}
