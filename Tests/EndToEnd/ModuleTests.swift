import EventLoop
import TestSupport
import Testing

@Suite("Modules of a tag")
struct ModuleTests {
    private static let tag = "jacquard/tag/0001"

    @Test("J48: modules are listed, and changed by the command line")
    func modules() async throws {
        try await inWorld { world in
            try await world.connected()
            #expect(world.observer.latest(Self.tag + "/modules") == nil)
            let data = try await world.succeeds(
                Self.tag + "/modules/set", #"{"module":"IMUModule","action":"activate"}"#)
            #expect((data["modules"] as? [[String: Any]])?.first?["enabled"] as? Bool == true)
            try await until("the list") {
                world.observer.latest(Self.tag + "/modules")?.contains(#""enabled":true"#) == true
            }
        }
    }
}
