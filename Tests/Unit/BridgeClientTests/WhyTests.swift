import Bridge
import BrokerAccess
import CommandLine
import JSON
import Terminal
import Testing

@testable import BridgeClient

@Suite("why")
struct WhyTests {
    private static let now: Int64 = 1_795_169_702_114
    private static let hint = CommandHint(config: nil, commands: [])

    private static func facts(_ messages: [String: String]) -> RetainedFacts {
        var facts = RetainedFacts(BridgeTopics(base: "jacquard", instance: "attic"))
        for (topic, payload) in messages { facts.take("jacquard/" + topic, Array(payload.utf8)) }
        return facts
    }

    private static func finding(_ name: String, _ verdict: String, _ found: String, _ remedies: String...) -> JSONValue
    {
        [
            "name": .string(name), "title": "t", "verdict": .string(verdict), "found": .string(found),
            "remedies": .array(remedies.map(JSONValue.string)),
        ]
    }

    @Test("shows the links in the order of the bridge, the last error, and the first broken link")
    func answer() {
        let result: JSONValue = [
            "bridge": "attic",
            "data": [
                "chain": ["broker", "received", "later_version", "link"], "broken": "received",
                "checks": [
                    Self.finding("link", "skipped", "not tried"), Self.finding("broker", "ok", "connected"),
                    Self.finding("received", "failed", "last received 12 min ago", "move the tag", "charge it"),
                    Self.finding("last_error", "warning", "connection_timeout"), Self.finding("clock", "ok", "now"),
                    Self.finding("later_version", "ok", "unknown"),
                ],
            ],
        ]
        let report = WhyReport("0001", result)
        #expect(
            report.lines(Self.hint) == [
                "ok       broker          connected", "failed   tag received    last received 12 min ago",
                "         -> move the tag", "         -> charge it", "skipped  link            not tried",
                "warning  last error      connection_timeout",
            ])
        #expect(report.failure?.exitCode == .failed && report.failure?.isPrinted == true)
        #expect(
            report.failure?.lines == [
                "jacquard2mqtt: Tag 0001 cannot be used: tag received: last received 12 min ago", "hint: move the tag",
            ])
        #expect(report.document["broken"] == "received" && report.document["status"] == "failed")
        #expect(report.document["chain"]?.elements?.count == 4)
    }

    @Test("without a broken link there is no error")
    func good() {
        let result: JSONValue = [
            "bridge": "attic", "data": ["chain": ["broker"], "checks": [Self.finding("broker", "ok", "connected")]],
        ]
        #expect(WhyReport("0001", result).failure == nil)
        #expect(WhyReport("0001", result).document["broken"] == .null)
    }

    @Test("without a broker, this is the broken link")
    func noBroker() {
        let failure = ClientFailure(exitCode: .noConnection, code: "unreachable", text: "no broker", hint: "doctor")
        let report = WhyReport("0001", withoutBroker: failure)
        #expect(report.document["broken"] == "broker")
        #expect(report.lines(Self.hint).prefix(2) == ["failed   broker          no broker", "         -> doctor"])
        #expect(report.failure?.exitCode == .noConnection)
    }

    @Test("of a bridge that is offline, shows when it last received the tag, and its last error")
    func offline() {
        let connection = #"""
            {"state":"disconnected","last_seen":"2026-11-20T10:03:02.114Z","error":\#
            {"code":"connection_timeout","text":"No link","hint":"move it"}}
            """#
        let facts = Self.facts(["bridge/attic/state": "offline", "tag/0001/connection": connection])
        let report = WhyReport("0001", offline: facts, at: Self.now)
        let lines = report.lines(Self.hint)
        #expect(report.document["broken"] == "bridge" && report.failure?.code == "bridge_offline")
        #expect(lines.contains { $0.hasPrefix("skipped  tag received    last received 12 min ago") })
        #expect(lines.contains("warning  last error      connection_timeout: No link"))
        let names = report.document["chain"]?.elements?.map { $0["name"]?.string ?? "" }
        #expect(names == ["broker", "bridge", "adapter", "received", "bond", "link", "last_error"])
        let unknown = WhyReport("0001", offline: Self.facts(["bridge/hall/state": "online"]), at: Self.now)
        #expect(unknown.failure?.code == "bridge_unknown" && unknown.failure?.exitCode == .noConnection)
    }

    @Test("of a bridge that does not answer, shows what the broker retains")
    func silent() {
        let failure = ClientFailure(exitCode: .failed, code: "unknown_command", text: "There is no request")
        var messages = [
            "bridge/attic/state": "online", "bridge/attic/adapter": #"[{"id":"hci0","state":"powered_on"}]"#,
            "tag/0001/connection": #"{"state":"connecting","step":3,"of":14}"#,
        ]
        var report = WhyReport("0001", silent: failure, Self.facts(messages), at: Self.now)
        #expect(report.document["broken"] == "link" && report.failure?.exitCode == .failed)
        #expect(report.lines(Self.hint).contains("failed   link            connecting 3/14"))
        messages["tag/0001/connection"] = #"{"state":"connected"}"#
        report = WhyReport("0001", silent: failure, Self.facts(messages), at: Self.now)
        #expect(report.failure == nil)
        messages["bridge/attic/adapter"] = #"[{"id":"hci0","state":"powered_off"}]"#
        report = WhyReport("0001", silent: failure, Self.facts(messages), at: Self.now)
        #expect(report.document["broken"] == "adapter")
        let silence = ClientFailure.silent(
            "attic", BridgeTopics(base: "jacquard", instance: "attic"), within: .seconds(5))
        report = WhyReport("0001", silent: silence, Self.facts(messages), at: Self.now)
        #expect(report.document["broken"] == "bridge" && report.failure?.exitCode == .noConnection)
    }

    @Test("a tag of another bridge is named with its bridge")
    func elsewhere() {
        let error = ClientFailure(exitCode: .failed, code: "unknown_tag", text: "There is no tag")
        let facts = Self.facts(["tag/0001/info": #"{"bridge":"hall"}"#])
        #expect(
            WhyReport.unknownTag("0001", error, facts, nil).hint
                == "it belongs to another bridge: JACQUARD2MQTT_INSTANCE=hall jacquard2mqtt why 0001")
        #expect(WhyReport.unknownTag("0002", error, facts, nil).hint == nil)
    }

    @Test("of a tag that the bridge does not know, the hint names the tags that are received")
    func strangers() {
        let error = ClientFailure(exitCode: .failed, code: "unknown_tag", text: "There is no tag")
        let overview = TagOverview([
            "known": [["serial": "0001"]],
            "seen": [["serial": "0001", "known": true], ["serial": "003R", "known": false]],
        ])
        #expect(
            WhyReport.unknownTag("003r", error, Self.facts([:]), overview).hint
                == "not paired, but received: 003R; to pair a tag: jacquard2mqtt pair SERIAL")
        #expect(
            WhyReport.unknownTag("7777", error, Self.facts([:]), overview).hint
                == "not paired, but received: 003R; to pair a tag: jacquard2mqtt pair SERIAL")
    }
}
