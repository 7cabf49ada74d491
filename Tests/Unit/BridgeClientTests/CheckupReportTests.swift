import Bridge
import BrokerAccess
import GATTRecording
import JSON
import JacquardProtocol
import Testing

@testable import BridgeClient
@testable import Configuration

@Suite("The report of a checkup")
struct CheckupReportTests {
    private static func report(_ recording: TrafficRecording?) -> CheckupReport {
        var configuration = Settings.test(1883)
        configuration.instance = "hall"
        configuration.mqtt.username = "anna"
        var facts = RetainedFacts(BridgeTopics(base: "jacquard", instance: "hall"))
        let info =
            #"{"id":"0001","serial":"0001","name":"Anna's sleeve","tag_name":"Sleeve","uuid":"0-07-9324FLHBK00001-1903"}"#
        facts.take("jacquard/tag/0001/info", Array(info.utf8))
        facts.take("jacquard/tag/0001/battery", Array(#"{"level":87}"#.utf8))
        facts.take("jacquard/bridge/hall/adapter", Array(#"[{"id":"hci0","address":"F0:00:00:00:00:01"}]"#.utf8))
        return CheckupReport(
            findings: [CheckupFinding(name: "battery", title: "battery", verdict: .works("87 %"), milliseconds: 21)],
            facts: facts, tag: "0001", configuration: configuration, recording: recording,
            log: "t=10001 connected tag=0001 name=Anna's sleeve user anna", system: "Linux 6.1")
    }

    @Test("has findings, versions, configuration, recording and log, and nothing that identifies the owner")
    func contents() throws {
        let recording = TrafficRecording(
            records: [TrafficRecord(number: 1, microseconds: 10_001, event: .connected)])
        let text = Self.report(recording).text
        for part in [
            "== findings ==", "battery  works   21 ms  87 %", "== versions ==", "Linux 6.1", "hci0", "log.level: info",
        ] {
            #expect(text.contains(part), "\(part)")
        }
        for secret in [" 0001", "tag=0001", "Anna", "anna", "hall", "F0:00", "Sleeve", "FLHBK"] {
            #expect(!text.contains(secret), "\(secret)")
        }
        #expect(try TrafficRecording(parsing: Array(text.utf8)) == recording)
    }

    @Test(
        "hides tags that the bridge does not have, and hosts, in the log",
        arguments: [
            (
                #"debug bluez: heard tag=0042 address=F0:00 path="/org/bluez/a b\" c" rssi=-60"#,
                "debug bluez: heard tag=X address=X path=X rssi=-60"
            ),
            (
                "info mqtt: connected endpoint=north.example.org:8883 version=5\n a pairing serial=0043",
                "info mqtt: connected endpoint=X version=5\n a pairing serial=X"
            ),
            (
                #"{"level":"info","tag":"00\"44","n":1,"topic":"a/b"}"#,
                #"{"level":"info","tag":X,"n":1,"topic":X}"#
            ), ("the tag=", "the tag=X"),
        ])
    func log(text: String, expected: String) {
        #expect(CheckupReport.withoutIdentities(text) == expected)
    }

    @Test("keeps the words of the configuration's vocabulary, and the keys of its JSON, whatever is configured")
    func vocabulary() throws {
        var configuration = Settings.test(1883)
        configuration.instance = "hall"
        configuration.bridge.chords = [Chord(name: "annas_chord", of: [.doubleTap, .brushIn])]
        var lost = ReflexSettings()
        lost.broker = .lost
        lost.request = "led flash"
        var tap = ReflexSettings()
        tap.event = "double_tap"
        tap.sources = ["0007", "0008"]
        tap.request = "led red"
        configuration.reflexes = [lost, tap]
        var facts = RetainedFacts(BridgeTopics(base: "jacquard", instance: "hall"))
        facts.take("jacquard/tag/0001/info", Array(#"{"id":"0001","name":"level"}"#.utf8))
        facts.take("jacquard/tag/0001/battery", Array(#"{"level":87}"#.utf8))
        let finding = CheckupFinding(
            name: "gesture", title: "gesture", verdict: .works("double_tap, red, 0 lost"), milliseconds: 2)
        let report = CheckupReport(
            findings: [finding], facts: facts, tag: "0001", configuration: configuration, recording: nil,
            log: "double_tap annas_chord 0008", system: "Linux")
        let text = report.text
        #expect(text.contains("works   2 ms  double_tap, red, 0 lost"))
        #expect(text.contains(#""detail":"double_tap, red, 0 lost""#) && text.contains(#"battery {"level":87}"#))
        #expect(text.contains("double_tap XXXXXXXXXXX XXXX"))
        let lines = report.configurationLines
        #expect(lines.contains("reflexes.N.broker: lost") && lines.contains("reflexes.N.on: double_tap"))
        #expect(lines.contains("chords.N.of: double_tap, brush_in") && lines.contains("chords.N.name: (set)"))
    }

    @Test("shows numbers, switches and words of lists from the configuration, and hides all other texts")
    func configuration() {
        let lines = Self.report(nil).configurationLines
        #expect(lines.contains("mqtt.port: 1883") && lines.contains("log.format: auto"))
        #expect(lines.contains("instance: (set)") && lines.contains("mqtt.username: (set)"))
        #expect(!lines.contains { $0.hasPrefix("mqtt.password:") })
    }
}
