import CommandLine
import Testing

@testable import Terminal

@Suite("Output of commands")
struct OutputTests {
    @Test("a table is aligned, shows - for missing values, and escapes control characters")
    func table() {
        let table = TextTable(
            titles: ["ID", "NAME", "RSSI"], rows: [["a", "Left\u{1B}[2J", "-5"], ["long id", "", ""]])
        #expect(
            table.lines == [
                "ID       NAME           RSSI",
                "a        Left\\u{1b}[2J  -5",
                "long id  -              -",
            ])
    }

    @Test(
        "an age has one unit",
        arguments: [
            (0, "now"), (-5_000, "now"), (40_000, "40 s ago"), (720_000, "12 min ago"), (18_000_000, "5 h ago"),
            (259_200_000, "3 d ago"),
        ] as [(Int64, String)])
    func age(milliseconds: Int64, text: String) {
        #expect(Age.text(from: 1_000_000, to: 1_000_000 + milliseconds) == text)
    }

    @Test(
        "a duration has two units",
        arguments: [(0, "0 s"), (59, "59 s"), (60, "1 min"), (200, "3 min 20 s"), (190_800, "2 d 5 h")]
            as [(Int64, String)])
    func span(seconds: Int64, text: String) {
        #expect(Age.span(seconds: seconds) == text)
    }

    @Test("hints contain the --config that the user typed")
    func hints() {
        let commands = ["doctor", "pair", "start"].map { name in
            Command<Never>(name: name, summary: "", details: [], options: name == "start" ? [] : [config]) {
                _ throws(CommandLineError) in throw CommandLineError(message: "")
            }.description
        }
        let hint = CommandHint(config: "my file.yaml", commands: commands)
        #expect(hint.completed("jacquard2mqtt doctor") == "jacquard2mqtt doctor --config 'my file.yaml'")
        #expect(
            hint.completed("to pair: jacquard2mqtt pair SERIAL")
                == "to pair: jacquard2mqtt pair --config 'my file.yaml' SERIAL")
        #expect(hint.completed("journalctl -u jacquard2mqtt -n 50") == "journalctl -u jacquard2mqtt -n 50")
        #expect(
            hint.completed("start it: sudo systemctl start jacquard2mqtt, or so")
                == "start it: sudo systemctl start jacquard2mqtt, or so")
        #expect(
            CommandHint(config: nil, commands: commands).completed("jacquard2mqtt doctor") == "jacquard2mqtt doctor")
        #expect(CommandHint.quoted("it's") == #"'it'\''s'"#)
        #expect(CommandHint.quoted("/etc/a.yaml") == "/etc/a.yaml")
    }

    private let config = OptionDescription(name: "--config", value: "FILE", details: [])
}
