import Bridge
import BrokerAccess
import Configuration
import EventLoop
import JSON
import Terminal
import TestSupport
import Testing

@testable import BridgeClient
@testable import CommandLine

@Suite("The forecast of a battery")
struct ForecastTextTests {
    @Test("is a time from now on, also if its document is older")
    func text() throws {
        let document: JSONValue = [
            "empty": "2026-11-20T12:00:00.000Z", "earliest": "2026-11-20T09:00:00.000Z",
            "latest": "2026-11-22T10:00:00.000Z",
        ]
        let now = try #require(TimeText.unixMilliseconds("2026-11-20T10:00:00.000Z"))
        let forecast = try #require(ForecastText(document, at: now))
        #expect(forecast.short == "empty in 2 h")
        #expect(forecast.long == "empty in 2 h (between 0 s and 2 d)")
        #expect(ForecastText(["empty": .null], at: now) == nil)
    }
}

@Suite("status")
struct StatusTests {
    @Test("shows the received tags that are not the bridge's own")
    func received() {
        let topics = BridgeTopics(base: "jacquard", instance: "attic")
        var facts = RetainedFacts(topics)
        facts.take(topics.state, Array("online".utf8))
        facts.take(topics.info, Array(#"{"tags":["0001"]}"#.utf8))
        let overview = TagOverview([
            "known": [["serial": "0001", "address": "F0:01"]],
            "seen": [
                ["serial": "0001", "known": true, "address": "F0:01"],
                ["serial": "0001", "known": true, "address": "F0:99"],
                ["serial": "003R", "known": false, "address": "F0:02", "rssi": -60],
            ],
        ])
        let report = StatusReport(facts, overview, at: 0)
        let lines = report.lines().map(\.text)
        #expect(lines.contains { $0.hasPrefix("0001") && $0.contains("F0:99") && $0.contains("serial of another tag") })
        #expect(lines.contains { $0.hasPrefix("003R") && $0.contains("not known") && $0.contains("-60") })
        #expect(report.document["received"]?.elements?.map { $0["address"] } == ["F0:99", "F0:02"])
        #expect(StatusReport(facts, at: 0).document["received"] == .null)
        let last = StatusReport(facts, TagOverview(.null), at: 0).lines().last
        #expect(last?.text.hasPrefix("0001") == true)
    }

    private static let facts: [FakeBridge.Publication] = [
        ("bridge/attic/state", "online"),
        (
            "bridge/attic/info",
            #"{"version":"0.1.0","bluez":"5.66","started":"2026-11-20T08:57:57.000Z","tags":["0001","away"]}"#
        ),
        (
            "bridge/attic/health",
            #"{"status":"degraded","uptime_s":17,"problems":[{"code":"firmware","text":"Old firmware"}]}"#
        ),
        (
            "bridge/attic/adapter",
            #"[{"id":"hci0","address":"00:1A:7D:00:00:01","state":"powered_on","discovering":true,"connected":1}]"#
        ),
        ("tag/0001/availability", "online"),
        ("tag/0001/connection", #"{"state":"connected"}"#),
        ("tag/0001/battery", #"{"level":87,"charging":true,"time":"2026-11-20T10:00:00.000Z"}"#),
        ("tag/0001/gear", #"{"attached":true,"product":"Trucker Jacket","time":"2026-11-20T10:00:00.000Z"}"#),
        ("tag/0001/info", #"{"name":"Left sleeve","bridge":"attic"}"#),
        ("tag/0001/rssi", "-63"),
        (
            "tag/away/connection",
            #"{"state":"connecting","step":1,"of":14,"last_seen":"2026-11-20T09:48:00.000Z"}"#
        ),
        ("tag/away/stats", #"{"time":"2026-11-20T09:59:59.000Z"}"#),
        ("tag/away/availability", "offline"),
        ("tag/away/battery", #"{"level":9,"charging":false,"time":"2026-11-20T09:30:00.000Z"}"#),
        ("tag/away/gear", #"{"attached":false}"#),
        ("tag/foreign/info", #"{"bridge":"cellar"}"#),
        ("bridge/cellar/state", "online"),
    ]

    /// 2026-11-20, ten o'clock.
    private static let now: Int64 = 1_795_168_800_000

    @Test("reports bridge, adapter, problems and a table of the bridge's own tags")
    func people() {
        #expect(
            Self.report().lines().map(\.text) == [
                "bridge attic: online, version 0.1.0, BlueZ 5.66, health degraded, up 1 h 2 min",
                "adapter hci0 00:1A:7D:00:00:01, powered on, scanning, 1 connected",
                "problem: Old firmware",
                "",
                "ID    NAME         CONNECTION       BATTERY        GEAR            RSSI  LAST SEEN",
                "0001  Left sleeve  connected        87 % charging  Trucker Jacket  -63   now",
                "away  -            connecting 1/14  9 %            none            -     12 min ago",
            ])
    }

    @Test("colours the states of the bridge and of the tags, and shortens names to the width of the terminal")
    func terminal() {
        let lines = Self.report().lines(in: TerminalStyle(isColored: true, columns: 60))
        var title = StyledLine("bridge attic: ")
        title.append("online", .good)
        title.append(", version 0.1.0, BlueZ 5.66, health degraded, up 1 h 2 min")
        #expect(lines[0] == title)
        #expect(lines[2] == StyledLine("problem: Old firmware", .warning))
        #expect(lines.suffix(2).map(\.text).allSatisfy { $0.count <= 60 })
        #expect(lines.suffix(2).map(\.text)[0].hasPrefix("0001  Left sl"))
    }

    @Test("says that a bridge does not answer that is online by its last message only", arguments: [true, false])
    func silent(isJSON: Bool) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(broker, facts: Self.facts)
            await bridge.stop()
            let written = Written()
            let code = await ClientAction.perform(StatusCommand(), .test(broker.port, written, isJSON: isJSON))
            #expect(code == .noConnection)
            if isJSON {
                #expect(
                    written.document["bridge"]?["answers"] == false && written.document["bridge"]?["state"] == "online")
            } else {
                let line = written.lines(.standardOutput).first ?? ""
                #expect(line.hasPrefix("bridge attic: online by its last message, does not answer"), "\(line)")
                #expect(!written.lines(.standardOutput).contains { $0.contains("powered on") || $0.contains("health") })
            }
            #expect(
                written.lines(.standardError).contains { $0.contains("online by its last message, does not answer") })
            let all = Written()
            #expect(await ClientAction.perform(StatusCommand(isAll: true), .test(broker.port, all)) == .noConnection)
            #expect(
                all.lines(.standardError).contains {
                    $0.contains(
                        "2 of 2 bridges are offline: attic (online by its last message, does not answer), cellar")
                }, "\(all.lines(.standardError))")
        }
    }

    @Test("shows a bridge that answers nothing but the question whether it is there", arguments: [true, false])
    func answers(is5: Bool) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(broker, facts: Self.facts)
            let written = Written()
            let context = ClientContext.test(broker.port, written, isJSON: true, version: is5 ? .v5 : .v311)
            #expect(await ClientAction.perform(StatusCommand(), context) == .done)
            #expect(written.document["bridge"]?["answers"] == true)
            bridge.isThere = false
            let silent = Written()
            let again = ClientContext.test(broker.port, silent, isJSON: true, version: is5 ? .v5 : .v311)
            #expect(await ClientAction.perform(StatusCommand(), again) == .noConnection)
            #expect(silent.document["bridge"]?["answers"] == false)
            await bridge.stop()
        }
    }

    @Test("with --all shows each bridge, and names those that are offline", arguments: [true, false])
    func allBridges(isOffline: Bool) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let state: FakeBridge.Publication = ("bridge/cellar/state", isOffline ? "offline" : "online")
            let bridge = try await FakeBridge(broker, facts: Self.facts + [state])
            let written = Written()
            let code = await ClientAction.perform(StatusCommand(isAll: true), .test(broker.port, written))
            #expect(code == (isOffline ? .noConnection : .done))
            let lines = written.lines(.standardOutput)
            #expect(lines.filter { $0.hasPrefix("bridge ") }.count == 2)
            let heads = lines.filter { $0.hasPrefix("ID ") }
            #expect(heads.count == 2)
            let cellar = lines.firstIndex { $0.hasPrefix("bridge cellar: ") } ?? 0
            #expect(lines[cellar...].contains { $0.hasPrefix("foreign") })
            #expect(lines[..<cellar].contains { $0.hasPrefix("0001") && $0.contains("Left sleeve") })
            let errors = written.lines(.standardError).filter { $0.contains("offline") }
            #expect(errors == (isOffline ? ["jacquard2mqtt: 1 of 2 bridges is offline: cellar"] : []))
            let json = Written()
            _ = await ClientAction.perform(StatusCommand(isAll: true), .test(broker.port, json, isJSON: true))
            let bridges = json.document["bridges"]?.elements ?? []
            #expect(bridges.compactMap { $0["bridge"]?["instance"]?.string } == ["attic", "cellar"])
            #expect(bridges.map { $0["tags"]?.elements?.count } == [2, 1])
            await bridge.stop()
        }
    }

    @Test("omits values of a stopped bridge that are valid only while it runs")
    func stopped() {
        #expect(
            Self.report(state: "offline").lines().map(\.text) == [
                "bridge attic: offline, version 0.1.0, BlueZ 5.66",
                "adapter hci0 00:1A:7D:00:00:01",
                "",
                "ID    NAME         CONNECTION      BATTERY        GEAR            RSSI  LAST SEEN",
                "0001  Left sleeve  bridge offline  87 % charging  Trucker Jacket  -     now",
                "away  -            bridge offline  9 %            none            -     12 min ago",
            ])
    }

    @Test("names the other bridges if there is none with the name")
    func otherBridges() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(
                broker, facts: [("bridge/cellar/state", "online"), ("bridge/old/state", "offline")])
            await bridge.stop()
            for command in [StatusCommand(), TagsCommand()] as [any ClientCommand] {
                let written = Written()
                let code = await ClientAction.perform(command, .test(broker.port, written, isJSON: true))
                #expect(code == .noConnection)
                #expect(written.document["error"]?["code"] == "bridge_unknown")
                #expect(
                    written.document["error"]?["text"]
                        == "The broker answers, but there is no bridge \"attic\"; there is cellar (online), old (offline)"
                )
            }
        }
    }

    @Test("prints the documents with --json, with null for unknown values")
    func machines() {
        let document = Self.report().document
        #expect(document["bridge"]?["instance"] == "attic")
        #expect(document["bridge"]?["info"]?["bluez"] == "5.66")
        #expect(document["tags"]?.elements?.map { $0["id"] } == ["0001", "away"])
        #expect(document["tags"]?.elements?.first?["rssi"] == -63)
        #expect(document["tags"]?.elements?.last?["led"] == .null)
    }

    @Test("uses the retained messages, and exits with 3 if the bridge is offline", arguments: ["online", "offline"])
    func retained(state: String) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let facts = [("bridge/attic/state", state)] + Self.facts.dropFirst()
            let bridge = try await FakeBridge(broker, facts: facts)
            let written = Written()
            let code = await ClientAction.perform(StatusCommand(), .test(broker.port, written, isJSON: true))
            #expect(code == (state == "online" ? .done : .noConnection))
            #expect(written.document["bridge"]?["state"] == .string(state))
            #expect(written.document["tags"]?.elements?.count == 2)
            await bridge.stop()
        }
    }

    private static func report(state: String = "online") -> StatusReport {
        var facts = RetainedFacts(BridgeTopics(.test(1883)))
        for fact in Self.facts + [("bridge/attic/state", state)] {
            facts.take("jacquard/" + fact.topic, Array(fact.payload.utf8))
        }
        return StatusReport(facts, at: now)
    }
}
