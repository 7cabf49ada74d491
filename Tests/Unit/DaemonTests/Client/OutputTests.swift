import Bridge
import JSON
import Testing

@testable import Daemon

@Suite("Output of the client")
struct OutputTests {
    @Test("a table is aligned, shows - for nothing, and lets no control character through")
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
        "an age is told in one unit",
        arguments: [
            (0, "now"), (-5_000, "now"), (40_000, "40 s ago"), (720_000, "12 min ago"), (18_000_000, "5 h ago"),
            (259_200_000, "3 d ago"),
        ] as [(Int64, String)])
    func age(milliseconds: Int64, text: String) {
        #expect(Age.text(from: 1_000_000, to: 1_000_000 + milliseconds) == text)
    }

    @Test(
        "a span is told in two units",
        arguments: [(0, "0 s"), (59, "59 s"), (60, "1 min"), (200, "3 min 20 s"), (190_800, "2 d 5 h")]
            as [(Int64, String)])
    func span(seconds: Int64, text: String) {
        #expect(Age.span(seconds: seconds) == text)
    }

    @Test("a time is read and written as in the contract")
    func time() {
        #expect(Age.unixMilliseconds("2026-11-20T10:00:00.114Z") == 1_795_168_800_114)
        #expect(Age.unixMilliseconds("yesterday") == nil)
        #expect(ClockText.utc(1_795_168_800_114) == "2026-11-20T10:00:00.114Z")
    }

    @Test(
        "a payload is a document or a word",
        arguments: [
            (#"{"b":[1,2.5,null,true],"a":"x/y"}"#, #"{"a":"x/y","b":[1,2.5,null,true]}"#), ("online", #""online""#),
            ("", #""""#), ("-63", "-63"), ("{", #""{""#),
        ])
    func payload(text: String, json: String) {
        #expect(JSONValue(payload: Array(text.utf8)).text == json)
    }

    @Test("a scan lists each tag once, the nearest first, and keeps what it has known")
    func scan() {
        var report = ScanReport(source: .bridge)
        let news = [
            ["address": "A", "serial": "0001", "rssi": -80, "name": "Tag", "known": true],
            ["address": "B", "serial": "0002", "rssi": -50, "name": .null, "known": false],
            ["address": "A", "serial": "0001", "rssi": -70, "name": .null, "known": true],
            ["serial": "0003"],
        ].map { report.take($0) }
        #expect(news == [true, true, false, false])
        #expect(
            report.lines == [
                "SERIAL  NAME  ADDRESS  RSSI  KNOWN", "0002    -     B        -50   no",
                "0001    Tag   A        -70   yes",
            ])
        #expect(report.document["tags"]?.elements?.map { $0["serial"] } == ["0002", "0001"])
    }

    @Test("tags that are only heard follow the known ones")
    func tags() {
        let data: JSONValue = [
            "known": [["id": "a", "serial": "0001", "state": "disconnected", "held": true]],
            "seen": [
                ["serial": "0001", "address": "A", "known": true],
                ["serial": "0002", "address": "B", "known": false, "last_seen": "1970-01-01T00:00:00.000Z"],
            ],
        ]
        #expect(
            TagsCommand.lines(of: data, at: 40_000) == [
                "ID  SERIAL  NAME  ADDRESS  STATE               RSSI  LAST SEEN",
                "a   0001    -     -        disconnected, held  -     -",
                "-   0002    -     B        not known           -     40 s ago",
            ])
        #expect(TagsCommand.lines(of: ["known": [], "seen": []], at: 0).count == 1)
    }
}
