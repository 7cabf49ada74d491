import JSON
import Testing

@testable import CommandLine
@testable import Daemon

@Suite("LED on the command line")
struct LEDWishTests {
    @Test(
        "each word is a payload of led/set",
        arguments: [
            ("on", [], ["state": "ON"]),
            ("OFF", ["--component", "gear"], ["state": "OFF", "component": "gear"]),
            ("flash", [], ["flash": 1]),
            ("orange", [], ["color": "#ff8000"]),
            ("#00FF7f", ["--duration", "1.5"], ["color": "#00ff7f", "duration_ms": 1500]),
            ("red", ["--pattern", "breathing"], ["color": "#ff0000", "pattern": "breathing"]),
        ] as [(String, [String], [String: JSONValue])])
    func payload(word: String, options: [String], payload: [String: JSONValue]) throws {
        let table = Commands.table
        let invocation = try table.parse(["led"] + options + ["0001", word])
        guard case .command(.ask(.led("0001", let wish), _)) = invocation else {
            Issue.record("\(invocation)")
            return
        }
        #expect(wish.payload == payload)
    }

    @Test("other words are refused", arguments: ["rde", "#ff00", "#gggggg", "ff0000", ""])
    func refusal(word: String) {
        #expect(throws: CommandLineError.self) {
            try Commands.table.parse(["led", "0001", word])
        }
    }
}
