import JSON
import Testing

@testable import CommandLine
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
            (["run"], .command(.run(config: nil, state: nil, logLevel: nil))),
            (["run", "--config", "a"], .command(.run(config: "a", state: nil, logLevel: nil))),
            (
                ["run", "--config=a=b", "--log-level", "debug", "--state", "d"],
                .command(.run(config: "a=b", state: "d", logLevel: .debug))
            ),
            (["run", "--config", "-"], .command(.run(config: "-", state: nil, logLevel: nil))),
            (["run", "--help"], .help(topic: "run")),
            (["run", "--nonsense", "--help"], .help(topic: "run")),
            (["check-config"], .command(.checkConfig(config: nil))),
            (["check-config", "--config", "a", "--"], .command(.checkConfig(config: "a"))),
            (["check-config", "--version"], .version),
            (["check-config", "a.yaml"], .command(.checkConfig(config: "a.yaml"))),
            (
                ["check-config", "--print", "mqtt.host,tags.N.serial,tags.0.id"],
                .command(.checkConfig(config: nil, keys: ["mqtt.host", "tags.N.serial", "tags.0.id"]))
            ),
            (
                ["pair", "0-07-9324FLHBK0003R-1903"],
                .command(.ask(.pair(serial: "003R", timeout: .seconds(60)), ClientOptions()))
            ),
            (["check-config", "--json"], .command(.checkConfig(config: nil, isJSON: true))),
            (["scan"], .command(.ask(.scan(duration: .seconds(30)), ClientOptions()))),
            (
                ["scan", "--duration", "5", "--json"],
                .command(.ask(.scan(duration: .seconds(5)), ClientOptions(isJSON: true)))
            ),
            (["pair", "003R"], .command(.ask(.pair(serial: "003R", timeout: .seconds(60)), ClientOptions()))),
            (
                ["pair", "003R", "--timeout=9", "--config", "a"],
                .command(.ask(.pair(serial: "003R", timeout: .seconds(9)), ClientOptions(config: "a")))
            ),
            (["forget", "sleeve"], .command(.ask(.forget(id: "sleeve"), ClientOptions()))),
            (["tags"], .command(.ask(.tags, ClientOptions()))),
            (["status", "--json"], .command(.ask(.status, ClientOptions(isJSON: true)))),
            (["monitor"], .command(.ask(.monitor(id: nil), ClientOptions()))),
            (["monitor", "--new"], .command(.ask(.monitor(id: nil, isNewOnly: true), ClientOptions()))),
            (["clear"], .command(.ask(.clear, ClientOptions()))),
            (["monitor", "sleeve"], .command(.ask(.monitor(id: "sleeve"), ClientOptions()))),
            (["haptic", "003R", "short"], .command(.ask(.haptic(id: "003R", name: "short"), ClientOptions()))),
            (["doctor", "--state", "d"], .command(.doctor(state: "d", ClientOptions()))),
        ] as [([String], ParsedCommandLine<Invocation>)])
    func meaning(arguments: [String], meaning: ParsedCommandLine<Invocation>) throws {
        #expect(try parse(arguments) == meaning)
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
        let error = #expect(throws: CommandLineError.self) { try parse(arguments) }
        #expect(
            error?.lines(of: "jacquard2mqtt") == [
                "jacquard2mqtt: \(message)", "Try \"jacquard2mqtt\(command) --help\".",
            ])
    }

    @Test("an error is a document for machines, too")
    func document() {
        let error = #expect(throws: CommandLineError.self) { try parse(["led", "--json", "0001"]) }
        let document = error?.document(of: "jacquard2mqtt")
        #expect(document?["status"] == "error")
        #expect(document?["error"]?["code"] == "usage")
        #expect(document?["error"]?["text"] == "COLOR is missing")
        #expect(document?["error"]?["hint"] == "jacquard2mqtt led --help")
    }

    private func parse(_ arguments: [String]) throws(CommandLineError) -> ParsedCommandLine<Invocation> {
        try Commands.table.parse(arguments)
    }
}
