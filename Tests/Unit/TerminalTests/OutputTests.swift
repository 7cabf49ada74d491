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
        "columns are those of a terminal",
        arguments: [
            ("", 0), ("Left", 4), ("Ärmel", 5), ("A\u{308}rmel", 5), ("左袖", 4), ("ひだり", 6), ("ﾋﾀﾞﾘ", 4), ("왼쪽", 4),
            ("\u{1100}\u{1161}", 2), ("กำ", 2), ("ש\u{5B0}", 1), ("🧥", 2), ("👍🏽", 2), ("🇯🇵", 2), ("❤\u{FE0F}", 2),
            ("❤", 1),
            ("é́", 1), ("Ｌ", 2), ("a\u{300}\u{301}", 1), ("…", 1),
        ])
    func columns(text: String, count: Int) {
        #expect(ColumnMeter().columns(of: text) == count, "\(text)")
    }

    @Test(
        "text is shortened between characters",
        arguments: [
            ("Left sleeve", 11, "Left sleeve"), ("Left sleeve", 10, "Left slee…"), ("左袖の上着", 10, "左袖の上着"),
            ("左袖の上着", 9, "左袖の上…"), ("左袖の上着", 8, "左袖の…"), ("A\u{308}A\u{308}A\u{308}", 2, "A\u{308}…"),
            ("👍🏽👍🏽👍🏽", 5, "👍🏽👍🏽…"), ("🇯🇵🇯🇵", 3, "🇯🇵…"), ("🧥", 1, "…"),
        ])
    func shortened(text: String, limit: Int, expected: String) {
        let meter = ColumnMeter()
        #expect(meter.shortened(text, to: limit) == expected)
        #expect(meter.columns(of: expected) <= limit)
    }

    private static let names = ["Left sleeve", "左袖の上着", "Ärmel 🧥", "👍🏽🇯🇵", "e\u{301}t", "👨\u{200D}👩", "\u{202E}x"]

    @Test("a table with wide characters is aligned")
    func wideTable() {
        let table = TextTable(titles: ["ID", "NAME", "RSSI"], rows: Self.names.map { ["1", $0, "-5"] })
        let meter = ColumnMeter()
        let starts = table.lines.dropFirst().map { line in
            meter.columns(of: String(line.prefix(upTo: line.lastIndex(of: "-") ?? line.endIndex)))
        }
        #expect(Set(starts).count == 1, "\(table.lines)")
        // Joiners are escaped as in all output: terminals differ in what they join.
        #expect(table.lines[6].contains("👨\\u{200d}👩"))
        #expect(table.lines[7].contains("\\u{202e}x"))
    }

    @Test("a table fits into the terminal: the widest columns are shortened, but not the first one", arguments: 20...60)
    func narrowTable(width: Int) {
        let id = "jacket-0001"
        let table = TextTable(
            titles: ["ID", "NAME", "GEAR"], rows: Self.names.map { [id, $0 + $0, "Trucker Jacket of the left sleeve"] })
        let lines = table.lines(in: TerminalStyle(isColored: false, columns: width)).map(\.text)
        let meter = ColumnMeter()
        // 11 columns for the ID, two gaps, and twice the narrowest column.
        #expect(lines.allSatisfy { meter.columns(of: $0) <= max(width, 31) }, "\(lines)")
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix(id) })
    }

    @Test("a table shortens states last")
    func narrowStates() {
        let table = TextTable(
            titles: ["ID", "NAME", "STATE"], state: "STATE", rows: [["a", "Left sleeve", "connected, held"]])
        let style = TerminalStyle(isColored: false, columns: 28)
        #expect(table.lines(in: style).last?.text == "a   Left sl…  connected, he…")
    }

    @Test("colours are on titles and states; without colours the text is the same")
    func colours() {
        let table = TextTable(
            titles: ["ID", "STATE"], state: "STATE",
            rows: [["a", "connected"], ["b", "initializing 6/14"], ["c", "held"]])
        let lines = table.lines(in: TerminalStyle(isColored: true, columns: nil))
        #expect(
            lines.map { $0.written(isColored: true) } == [
                "\u{1B}[1mID\u{1B}[0m  \u{1B}[1mSTATE\u{1B}[0m", "a   \u{1B}[32mconnected\u{1B}[0m",
                "b   \u{1B}[33minitializing 6/14\u{1B}[0m", "c   held",
            ])
        #expect(lines.map { $0.written(isColored: false) } == table.lines)
        #expect(StyledLine("\u{1B}[2J", .bad).written(isColored: true) == "\u{1B}[31m\\u{1b}[2J\u{1B}[0m")
        #expect(StyledLine(state: "failed   link").written(isColored: true) == "\u{1B}[31mfailed\u{1B}[0m   link")
        #expect(StyledLine(state: "         -> doctor").written(isColored: true) == "         -> doctor")
    }

    @Test(
        "output is coloured on a terminal, unless the user or the environment says otherwise",
        arguments: [
            (.automatic, true, ["TERM": "xterm"], true), (.automatic, false, ["TERM": "xterm"], false),
            (.automatic, true, ["TERM": "xterm", "NO_COLOR": "1"], false),
            (.automatic, true, ["TERM": "xterm", "NO_COLOR": ""], true), (.automatic, true, ["TERM": "dumb"], false),
            (.automatic, true, [:], false), (.never, true, ["TERM": "xterm"], false),
            (.always, false, ["TERM": "dumb", "NO_COLOR": "1"], true),
        ] as [(ColorChoice, Bool, [String: String], Bool)])
    func choice(choice: ColorChoice, isTerminal: Bool, environment: [String: String], isColored: Bool) {
        let style = TerminalStyle(choice, isTerminal: isTerminal, columns: nil, environment: environment)
        #expect(style.isColored == isColored)
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
