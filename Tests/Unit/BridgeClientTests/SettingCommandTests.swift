import CommandLine
import JSON
import Terminal
import Testing

@testable import BridgeClient
@testable import CommandLine

@Suite("name, touch-mode, battery, connection, sleep, config")
struct SettingCommandTests {
    private static func command(_ words: [String]) throws -> TagSettingCommand {
        let row = try #require(TagSettingCommand.rows.first { $0.description.name == words[0] })
        let arguments = try ArgumentParser.read(words.dropFirst(), for: row.description)
        let action = try #require(try row.invocation(arguments) as? ClientAction)
        return try #require(action.command as? TagSettingCommand)
    }

    @Test(
        "each command line is one command of the contract",
        arguments: [
            (["name", "003R", "Left sleeve"], "name", "set", ["name": "Left sleeve"]),
            (["touch-mode", "003R", "continuous"], "touch_mode", "set", ["touch_mode": "continuous"]),
            (["battery", "003R"], "battery", "get", [:]),
            (["connection", "003R", "disconnect"], "connection", "set", ["connection": "disconnect"]),
            (["sleep", "003R"], "sleep", "set", [:]),
            (
                ["sleep", "003R", "--timeout", "30", "--wake-on-motion"], "sleep", "set",
                ["timeout_s": 30, "wake_on_motion": true]
            ),
            (["config", "003R", "colour"], "config", "get", ["key": "colour"]),
            (
                [
                    "config", "003R", "colour", "7", "--type", "int64", "--vendor", "11-78-30-C8", "--product",
                    "00-00-00-02",
                ],
                "config",
                "set",
                ["key": "colour", "type": "int64", "value": 7, "vendor_id": "11-78-30-c8", "product_id": "00-00-00-02"]
            ),
        ] as [([String], String, String, [String: JSONValue])])
    func payload(words: [String], command: String, verb: String, payload: [String: JSONValue]) throws {
        let tags = command == "name" ? TagOperand(tag: "003R") : TagOperand(["003R"])
        let expected = TagSettingCommand(tags: tags, command: command, verb: verb, payload: payload)
        #expect(try Self.command(words) == expected)
    }

    @Test(
        "a value without a type has the first type that fits",
        arguments: [
            ("true", "bool", true), ("false", "bool", false), ("7", "uint32", 7), ("-7", "int32", -7),
            ("4294967296", "uint64", 4_294_967_296), ("-2147483649", "int64", -2_147_483_649),
            ("18446744073709551615", "uint64", .unsigned(.max)), ("1.5", "double", .number(1.5)),
            ("left", "string", "left"), ("", "string", ""),
        ] as [(String, String, JSONValue)])
    func types(text: String, type: String, value: JSONValue) throws {
        let payload = try Self.command(["config", "003R", "k", "--", text]).payload
        #expect(payload["type"]?.string == type && payload["value"] == value)
    }

    @Test(
        "other values are refused, with those that are allowed",
        arguments: [
            (["name", "003R", ""], "1 to 21 bytes"), (["name", "003R", "twenty-two bytes long."], "1 to 21 bytes"),
            (["touch-mode", "003R", "both"], "gesture, continuous"),
            (["connection", "003R", "maybe"], "connect, disconnect"),
            (["sleep", "003R", "--timeout", "86401"], "86400"),
            (["config", "003R", "--type", "uint32", "k", "--", "-1"], "0 to 4294967295"),
            (["config", "003R", "k", "x", "--type", "float"], "a number"),
            (["config", "003R", "k", "1", "--type", "byte"], "uint32"),
            (["config", "003R", "k", "--type", "uint32"], "without VALUE"), (["battery", "a/b"], "without /"),
            (["config", "003R", "k", "--vendor", "7"], "four bytes such as 11-78-30-c8"),
            (["config", "003R", "k", "--product", "1-2-3-4"], "four bytes such as 11-78-30-c8"),
        ])
    func refused(words: [String], allowed: String) throws {
        let error = try #require(throws: CommandLineError.self) { try Self.command(words) }
        #expect(error.message.contains(allowed), "\(error.message)")
    }

    @Test("the result is a sentence with the value")
    func sentences() throws {
        let cases: [([String], JSONValue, String)] = [
            (["battery", "1"], ["data": ["level": 87, "charging": true]], "1: battery 87 %, charging"),
            (["config", "1", "k"], ["data": ["key": "k", "type": "uint32", "value": 7]], "1: k is 7 (uint32)"),
            (["config", "1", "k"], ["data": ["key": "k", "type": .null, "value": .null]], "1: k has no value"),
            (["connection", "1", "connect"], ["data": ["state": "connected"]], "1 is connected"),
            (["name", "1", "n"], ["took_ms": 41], "1: its name is n, after 41 ms"),
            (["touch-mode", "1", "gesture"], ["took_ms": 0], "1: touch mode is gesture"),
            (["sleep", "1", "--timeout", "30"], ["took_ms": 7], "1: sleeps in 30 s, after 7 ms"),
            (["sleep", "1"], [:], "1: sleeps"),
        ]
        for (words, result, sentence) in cases { #expect(try Self.command(words).sentence("1", result) == sentence) }
    }

    @Test("log-level takes the levels of the bridge")
    func logLevel() throws {
        let row = LogLevelCommand.row
        for level in ["error", "trace"] {
            let action = try row.invocation(ArgumentParser.read([level], for: row.description)) as? ClientAction
            #expect(action?.command as? LogLevelCommand == LogLevelCommand(level: level))
        }
        #expect(throws: CommandLineError.self) {
            try row.invocation(ArgumentParser.read(["loud"], for: row.description))
        }
    }
}
