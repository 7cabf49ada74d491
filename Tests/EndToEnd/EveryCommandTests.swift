import EventLoop
import TestSupport
import Testing

@Suite("Each command and request")
struct EveryCommandTests {
    /// One good input at least for each of them, in an order in which all can be carried out.
    private static let commands: [(name: String, payload: String)] = [
        ("led/set", "flash"), ("haptic/set", "short"), ("notify/set", "doorbell"),
        ("touch_mode/set", "continuous"), ("touch_mode/set", "gesture"),
        ("battery/get", ""), ("rssi/get", ""), ("info/get", ""), ("info/get", #"{"component":"gear"}"#),
        ("info/get", #"{"component":"modules"}"#),
        ("config/set", #"{"key":"k","type":"uint32","value":7}"#), ("config/get", #"{"key":"k"}"#),
        ("name/set", "Left sleeve"), ("connection/set", "disconnect"), ("connection/set", "connect"),
        ("sleep/set", #"{"timeout_s":3600,"wake_on_motion":true}"#),
    ]
    private static let requests: [(name: String, payload: String)] = [
        ("scan", #"{"duration_s":60,"duplicates":true}"#), ("scan", "stop"), ("tags", ""), ("health", ""),
        ("log_level", "debug"), ("refresh", ""), ("pair", #"{"serial":"0001","timeout_s":60}"#),
        ("forget", #"{"id":"0001"}"#),
    ]

    @Test("that is valid is executed and has exactly one final result")
    func oneResult() async throws {
        try await inWorld { world in
            try await world.connected()
            let given =
                Self.commands.map { ("jacquard/tag/0001/\($0.name)", $0.payload) }
                + Self.requests.map { ("\(World.bridge)/request/\($0.name)", $0.payload) }
            for (topic, payload) in given { try await world.succeeds(topic, payload) }
            // Behind the tag's last word, and the bridge's.
            try await world.succeeds(World.bridge + "/request/tags")
            let expected = Dictionary(
                grouping: given.map { World.resultTopic($0.0) } + [World.bridge + "/response/tags"]
            ) {
                $0
            }
            for (topic, all) in expected { #expect(world.finals(topic).count == all.count, "\(topic)") }
        }
    }
}
