import JSON
import Testing

@testable import BridgeClient
@testable import CommandLine

@Suite("led")
struct LEDCommandTests {
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
        let arguments = try ArgumentParser.read((options + ["0001", word])[...], for: LEDCommand.row.description)
        let action = try #require(try LEDCommand.row.invocation(arguments) as? ClientAction)
        let command = try #require(action.command as? LEDCommand)
        #expect(command.tags == TagOperand(["0001"]))
        #expect(command.payload == payload)
    }

    @Test("a pattern and a duration are not for off", arguments: [["--duration", "5"], ["--pattern", "breathing"]])
    func off(options: [String]) {
        let error = #expect(throws: CommandLineError.self) {
            try LEDCommand.row.invocation(
                ArgumentParser.read((["0001", "off"] + options)[...], for: LEDCommand.row.description))
        }
        #expect(error?.message == "\(options[0]) is not for off")
    }

    @Test("other words are refused", arguments: ["rde", "#ff00", "#gggggg", "ff0000", ""])
    func refusal(word: String) {
        #expect(throws: CommandLineError.self) {
            try LEDCommand.row.invocation(ArgumentParser.read(["0001", word], for: LEDCommand.row.description))
        }
    }
}
