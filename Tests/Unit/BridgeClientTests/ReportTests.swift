import JSON
import Terminal
import Testing

@testable import BridgeClient

@Suite("Reports of scan and tags")
struct ReportTests {
    @Test("a scan lists each tag once, the nearest first, and keeps known values")
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
            report.lines().map(\.text) == [
                "SERIAL  NAME  ADDRESS  RSSI  KNOWN", "0002    -     B        -50   no",
                "0001    Tag   A        -70   yes",
            ])
        #expect(report.document["tags"]?.elements?.map { $0["serial"] } == ["0002", "0001"])
    }

    @Test("a scan names tags of 2017, and says that they are too old")
    func snapTags() {
        var report = ScanReport(source: .adapter)
        #expect(report.document["snap_tags"] == nil)
        report.snapTags = ["AA:BB:CC:DD:EE:FF"]
        #expect(report.document["snap_tags"]?.elements == ["AA:BB:CC:DD:EE:FF"])
        #expect(
            report.lines().last?.text
                == "AA:BB:CC:DD:EE:FF is a tag of 2017 (snap tag): this bridge supports tags of 2019 and later.")
    }

    @Test("unknown tags follow the known ones")
    func tags() {
        let data: JSONValue = [
            "known": [["id": "a", "serial": "0001", "state": "disconnected", "held": true]],
            "seen": [
                ["serial": "0001", "address": "A", "known": true],
                ["serial": "0002", "address": "B", "known": false, "last_seen": "1970-01-01T00:00:00.000Z"],
            ],
        ]
        #expect(
            TagsCommand.lines(of: data, at: 40_000).map(\.text) == [
                "ID  SERIAL  NAME  ADDRESS  STATE               RSSI  LAST SEEN",
                "a   0001    -     -        disconnected, held  -     -",
                "-   0002    -     B        not known           -     40 s ago",
            ])
        #expect(TagsCommand.lines(of: ["known": [], "seen": []], at: 0).count == 1)
    }
}
