import Configuration
import JSON
import Terminal
import Testing
import Text

@testable import BridgeClient
@testable import BrokerAccess
@testable import CommandLine
@testable import Daemon
@testable import Doctor
@testable import jacquard2mqtt

@Suite("Command line")
struct CommandLineParserTests {
    private static let serials = "the four characters printed before the last hyphen, such as 003R, or the whole number"

    @Test("former names are accepted, and not shown", arguments: ["record", "replay", "tags"])
    func formerNames(name: String) throws {
        let operands = ["record": ["003R", "a.jsonl"], "replay": ["a.ring", "--to", "shadow"]][name] ?? []
        guard case .command = try Program.table.parse([name] + operands) else {
            Issue.record("no command")
            return
        }
        #expect(!Program.table.help(for: nil).contains("\n    \(name) "))
        // An action of `imu`, too.
        guard name != "record" else { return }
        #expect(!Program.table.completion(for: .bash).contains(" \(name) "))
    }

    @Test(
        "each command line has one result",
        arguments: [
            (["run"], RunCommand(config: nil, state: nil, logLevel: nil)),
            (["--config", "a", "run"], RunCommand(config: "a", state: nil, logLevel: nil)),
            (["--config=a", "run", "--state", "b"], RunCommand(config: "a", state: "b", logLevel: nil)),
            (["run", "--config", "a"], RunCommand(config: "a", state: nil, logLevel: nil)),
            (
                ["run", "--config=a=b", "--log-level", "debug", "--state", "d"],
                RunCommand(config: "a=b", state: "d", logLevel: .debug)
            ),
            (["run", "--config", "-"], RunCommand(config: "-", state: nil, logLevel: nil)),
            (["check-config"], CheckConfigCommand(config: nil)),
            (["check-config", "--config", "a", "--"], CheckConfigCommand(config: "a")),
            (["check-config", "a.yaml"], CheckConfigCommand(config: "a.yaml")),
            (
                ["check-config", "--print", "mqtt.host,tags.N.serial,tags.0.id"],
                CheckConfigCommand(config: nil, keys: ["mqtt.host", "tags.N.serial", "tags.0.id"])
            ),
            (
                ["pair", "0-07-9324FLHBK0003R-1903"],
                client(PairCommand(serial: "003R", timeout: .seconds(60)), ClientOptions())
            ),
            (["check-config", "--json"], CheckConfigCommand(config: nil, isJSON: true)),
            (["scan"], client(ScanCommand(duration: .seconds(30)), ClientOptions())),
            (
                ["scan", "--duration", "5", "--json"],
                client(ScanCommand(duration: .seconds(5)), ClientOptions(isJSON: true))
            ),
            (["pair", "003R"], client(PairCommand(serial: "003R", timeout: .seconds(60)), ClientOptions())),
            (
                ["pair", "003R", "--timeout=9", "--config", "a"],
                client(PairCommand(serial: "003R", timeout: .seconds(9)), ClientOptions(config: "a"))
            ),
            (["forget", "sleeve"], client(ForgetCommand(id: "sleeve"), ClientOptions())),
            (["tags"], client(TagsCommand(), ClientOptions())),
            (["status", "--json"], client(StatusCommand(), ClientOptions(isJSON: true))),
            (["monitor"], client(MonitorCommand(tag: nil), ClientOptions())),
            (["monitor", "--new"], client(MonitorCommand(tag: nil, isNewOnly: true), ClientOptions())),
            (["clear"], client(ClearCommand(), ClientOptions())),
            (["monitor", "sleeve"], client(MonitorCommand(tag: "sleeve"), ClientOptions())),
            (
                ["haptic", "003R", "short"],
                client(HapticCommand(tags: TagOperand(["003R"]), name: "short"), ClientOptions())
            ),
            (["doctor", "--state", "d"], DoctorCommand(options: ClientOptions(), state: "d")),
        ] as [([String], any CommandAction)])
    func meaning(arguments: [String], expected: any CommandAction) throws {
        guard case .command(let action) = try Program.table.parse(arguments) else {
            Issue.record("\(arguments)")
            return
        }
        #expect(String(reflecting: action) == String(reflecting: expected))
    }

    @Test(
        "help and version are recognized in front of a command and after it",
        arguments: [
            (["--help"], .help(topic: nil)),
            (["-h"], .help(topic: nil)),
            (["help"], .help(topic: nil)),
            (["help", "led"], .help(topic: "led")),
            (["led", "-h"], .help(topic: "led")),
            (["--version"], .version),
            (["run", "--help"], .help(topic: "run")),
            (["run", "--nonsense", "--help"], .help(topic: "run")),
            (["check-config", "--version"], .version),
        ] as [([String], ParsedCommandLine<Never>)])
    func explanation(arguments: [String], expected: ParsedCommandLine<Never>) throws {
        switch (try Program.table.parse(arguments), expected) {
        case (.help(let topic), .help(let expected)): #expect(topic == expected)
        case (.version, .version): break
        case (let result, _): Issue.record("\(result)")
        }
    }

    @Test(
        "an invalid command line is rejected with a hint",
        arguments: [
            ([], "a command is missing", ""),
            (["rnu"], "unknown command \"rnu\" (did you mean run?)", ""),
            (["xyzzy"], "unknown command \"xyzzy\"", ""),
            (["--verison"], "unknown option \"--verison\" (did you mean --version?)", ""),
            (["run", "--confg", "a"], "unknown option \"--confg\" (did you mean --config?)", " run"),
            (["run", "--password=hunter2"], "unknown option \"--password\"", " run"),
            (["run", "--config"], "--config needs a value: --config FILE", " run"),
            (["run", "--config="], "--config needs a value: --config FILE", " run"),
            (["run", "--config", "a", "--config", "b"], "--config is given twice", " run"),
            (
                ["run", "--log-level", "loud"],
                "--log-level: \"loud\" is not one of these; allowed: error, warning, notice, info, debug, trace", " run"
            ),
            (["run", "now"], "\"now\" is one word too many", " run"),
            (["check-config", "--state", "d"], "unknown option \"--state\"", " check-config"),
            (
                ["check-config", "--config", "a", "b"], "two files are given: --config and \"b\"", " check-config"
            ),
            (["check-config", "--print", "mqtt.password"], "mqtt.password is never printed", " check-config"),
            (
                ["check-config", "--print", "mqtt.hst"],
                "--print: \"mqtt.hst\" is no key (did you mean mqtt.host?)", " check-config"
            ),
            (
                ["check-config", "--print", "mqtt..host"],
                "--print: \"mqtt..host\" is no key (did you mean mqtt.host?)", " check-config"
            ),
            (["check-config", "--print", "mqtt.host,"], "--print: \"\" is no key", " check-config"),
            (
                ["check-config", "--print", "log"],
                "--print: \"log\" is no key; it is a section with log.level, log.format", " check-config"
            ),
            (["help", "lde"], "unknown command \"lde\" (did you mean led?)", " help"),
            (
                ["record-traffic", "003R", ""],
                "FILE: \"\" is empty; allowed: 1 to 4095 bytes without control characters", " record-traffic"
            ),
            (
                ["modules", "003R", "delete", "IMUModule"],
                "MODULE: \"IMUModule\" is not the module_id, which delete requires; allowed: four bytes such as "
                    + "3d-0b-e7-53, which modules ID lists", " modules"
            ),
            (["pair"], "SERIAL is missing", " pair"),
            (["pair", "a/b"], "SERIAL: \"a/b\" holds other characters; allowed: \(Self.serials)", " pair"),
            (["pair", "03R"], "SERIAL: \"03R\" has 3 characters; allowed: \(Self.serials)", " pair"),
            (
                ["pair", "0-07-9324FLHBK0003R"],
                "SERIAL: \"0-07-9324FLHBK0003R\" is not the whole number: the last hyphen and what follows it are part "
                    + "of it; allowed: \(Self.serials)", " pair"
            ),
            (["monitor", "a", "b"], "\"b\" is one word too many", " monitor"),
            (
                ["led", "a/b", "red"],
                "ID: \"a/b\" is no id of a tag; allowed: 1 to 64 bytes without / + # and control characters; "
                    + "several ids with commas between them, at most 256; the name of a group; all",
                " led"
            ),
            (
                ["scan", "--duration", "0"], "--duration: \"0\" is out of range; allowed: 1 to 3600 seconds", " scan"
            ),
            (["status", "--", "--help"], "\"--help\" is one word too many", " status"),
        ] as [([String], String, String)])
    func refusal(arguments: [String], message: String, command: String) {
        let error = #expect(throws: CommandLineError.self) { try Program.table.parse(arguments) }
        #expect(
            error?.lines(of: "jacquard2mqtt") == [
                "jacquard2mqtt: \(message)", "Try \"jacquard2mqtt\(command) --help\".",
            ])
    }

    @Test("an error is a document with --json")
    func document() {
        let error = #expect(throws: CommandLineError.self) { try Program.table.parse(["led", "--json", "0001"]) }
        let document = error?.document(of: "jacquard2mqtt")
        #expect(document?["status"] == "error")
        #expect(document?["error"]?["code"] == "usage")
        #expect(document?["error"]?["text"] == "COLOR is missing")
        #expect(document?["error"]?["hint"] == "jacquard2mqtt led --help")
    }

    private static func client(
        _ command: any ClientCommand, _ options: ClientOptions
    ) -> ClientAction {
        ClientAction(command: command, options: options)
    }
}
