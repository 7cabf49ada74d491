import JSON
import Testing

@testable import Configuration
@testable import Daemon

@Suite("Command line")
struct CommandLineParserTests {
    @Test(
        "a command line has one meaning",
        arguments: [
            (["--help"], .help(topic: nil)),
            (["-h"], .help(topic: nil)),
            (["help"], .help(topic: nil)),
            (["help", "led"], .help(topic: "led")),
            (["led", "-h"], .help(topic: "led")),
            (["--version"], .version),
            (["run"], .run(config: nil, state: nil, logLevel: nil)),
            (["run", "--config", "a"], .run(config: "a", state: nil, logLevel: nil)),
            (
                ["run", "--config=a=b", "--log-level", "debug", "--state", "d"],
                .run(config: "a=b", state: "d", logLevel: .debug)
            ),
            (["run", "--config", "-"], .run(config: "-", state: nil, logLevel: nil)),
            (["run", "--help"], .help(topic: "run")),
            (["run", "--nonsense", "--help"], .help(topic: "run")),
            (["check-config"], .checkConfig(config: nil)),
            (["check-config", "--config", "a", "--"], .checkConfig(config: "a")),
            (["check-config", "--version"], .version),
            (["check-config", "a.yaml"], .checkConfig(config: "a.yaml")),
            (
                ["check-config", "--print", "mqtt.host,tags.N.serial,tags.0.id"],
                .checkConfig(config: nil, keys: ["mqtt.host", "tags.N.serial", "tags.0.id"])
            ),
            (
                ["pair", "0-07-9324FLHBK0003R-1903"],
                .ask(.pair(serial: "003R", timeout: .seconds(60)), ClientOptions())
            ),
            (["check-config", "--json"], .checkConfig(config: nil, isJSON: true)),
            (["scan"], .ask(.scan(duration: .seconds(30)), ClientOptions())),
            (["scan", "--duration", "5", "--json"], .ask(.scan(duration: .seconds(5)), ClientOptions(isJSON: true))),
            (["pair", "003R"], .ask(.pair(serial: "003R", timeout: .seconds(60)), ClientOptions())),
            (
                ["pair", "003R", "--timeout=9", "--config", "a"],
                .ask(.pair(serial: "003R", timeout: .seconds(9)), ClientOptions(config: "a"))
            ),
            (["forget", "sleeve"], .ask(.forget(id: "sleeve"), ClientOptions())),
            (["tags"], .ask(.tags, ClientOptions())),
            (["status", "--json"], .ask(.status, ClientOptions(isJSON: true))),
            (["monitor"], .ask(.monitor(id: nil), ClientOptions())),
            (["monitor", "--new"], .ask(.monitor(id: nil, isNewOnly: true), ClientOptions())),
            (["clear"], .ask(.clear, ClientOptions())),
            (["monitor", "sleeve"], .ask(.monitor(id: "sleeve"), ClientOptions())),
            (["haptic", "003R", "short"], .ask(.haptic(id: "003R", name: "short"), ClientOptions())),
            (["doctor", "--state", "d"], .doctor(state: "d", ClientOptions())),
        ] as [([String], Invocation)])
    func meaning(arguments: [String], invocation: Invocation) throws {
        #expect(try parse(arguments) == invocation)
    }

    @Test(
        "a command line without meaning is refused with a hint",
        arguments: [
            ([], "a command is missing", ""),
            (["rnu"], "unknown command \"rnu\" (did you mean run?)", ""),
            (["check"], "unknown command \"check\"", ""),
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
                ["check-config", "--print", "mqtt.hots"],
                "--print: \"mqtt.hots\" is no key (did you mean mqtt.host?)", " check-config"
            ),
            (
                ["check-config", "--print", "log"],
                "--print: \"log\" is no key; it is a section with log.level, log.format", " check-config"
            ),
            (["help", "lde"], "unknown command \"lde\" (did you mean led?)", " help"),
            (["pair"], "SERIAL is missing", " pair"),
            (["pair", "a/b"], "SERIAL: \"a/b\" holds other characters; allowed: 1 to 32 of 0-9 A-Z a-z -", " pair"),
            (["monitor", "a", "b"], "\"b\" is one word too many", " monitor"),
            (
                ["led", "a/b", "red"],
                "ID: \"a/b\" is no id of a tag; allowed: 1 to 64 bytes without / + # and control characters", " led"
            ),
            (
                ["scan", "--duration", "0"], "--duration: \"0\" is out of range; allowed: 1 to 3600 seconds", " scan"
            ),
            (["status", "--", "--help"], "\"--help\" is one word too many", " status"),
        ] as [([String], String, String)])
    func refusal(arguments: [String], message: String, command: String) {
        let error = #expect(throws: UsageError.self) { try parse(arguments) }
        #expect(error?.lines == ["jacquard2mqtt: \(message)", "Try \"jacquard2mqtt\(command) --help\"."])
    }

    @Test("an error is a document for machines, too")
    func document() {
        let error = #expect(throws: UsageError.self) { try parse(["led", "--json", "0001"]) }
        #expect(error?.document["status"] == "error")
        #expect(error?.document["error"]?["code"] == "usage")
        #expect(error?.document["error"]?["text"] == "COLOR is missing")
        #expect(error?.document["error"]?["hint"] == "jacquard2mqtt led --help")
    }

    @Test("a row of the table is all that a command needs")
    func row() throws {
        let json = OptionDescription(name: "--json", value: nil, details: ["Print JSON."])
        let pair = CommandDescription(
            name: "pair", summary: "pair a tag", details: ["Pairs a tag."], options: [json], operands: ["SERIAL"]
        ) { arguments throws(UsageError) in
            .help(topic: arguments.operands.joined() + (arguments.options["--json"] == nil ? "" : " as JSON"))
        }
        let parser = CommandLineParser(commands: [pair])
        #expect(pair.synopsis == "pair [--json] SERIAL")
        #expect(try parser.parse(["pair", "003R"]) == .help(topic: "003R"))
        #expect(try parser.parse(["pair", "--json", "--", "-b-a"]) == .help(topic: "-b-a as JSON"))
        #expect(throws: UsageError(message: "SERIAL is missing", command: "pair")) { try parser.parse(["pair"]) }
        #expect(throws: UsageError(message: "--json takes no value", command: "pair")) {
            try parser.parse(["pair", "--json=1", "003R"])
        }
    }

    private func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        try CommandLineParser(commands: CommandTable.commands).parse(arguments)
    }
}
