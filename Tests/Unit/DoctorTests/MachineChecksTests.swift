import Bridge
import BrokerAccess
import Glibc
import JSON
import Terminal
import TestSupport
import Testing

@testable import CommandLine
@testable import Configuration
@testable import Doctor

@Suite("Doctor: machine")
struct MachineChecksTests {
    @Test(
        "a clock before 2026 is wrong",
        arguments: [(0, .failed), (1_767_225_599, .failed), (1_767_225_600, .ok), (1_795_168_800, .ok)]
            as [(Int64, Finding.Verdict)])
    func clock(seconds: Int64, verdict: Finding.Verdict) {
        #expect(ClockCheck.finding(unixSeconds: seconds).verdict == verdict)
    }

    @Test("the state folder is writable, missing, a file, or another user's")
    func folder() throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "file")
        func verdict(_ path: String) -> Finding.Verdict {
            StateFolderCheck.finding(StateFolderCheck.probe(path)).verdict
        }
        #expect(verdict(folder.path) == .ok)
        #expect(verdict(folder.path("none")) == .warning)
        #expect(verdict(folder.path("file")) == .failed)
        var facts = StateFolderCheck.Facts(path: "/x", exists: true, isFolder: true, owner: "bridge")
        #expect(StateFolderCheck.finding(facts).remedies == ["sudo -u bridge jacquard2mqtt doctor"])
        facts.isOwn = true
        #expect(StateFolderCheck.finding(facts).verdict == .failed)
    }

    @Test(
        "bad firmware is reported from the bridge's health",
        arguments: [
            (nil, .skipped), (["problems": []], .ok), (["problems": [["code": "no_adapter", "text": "x"]]], .ok),
            (["problems": [["code": "bad_firmware", "text": "Tag 003R has firmware 1.0.6"]]], .warning),
        ] as [(JSONValue?, Finding.Verdict)])
    func firmware(health: JSONValue?, verdict: Finding.Verdict) {
        #expect(FirmwareCheck.finding(health).verdict == verdict)
    }

    @Test("a configuration with errors fails, one with notices warns")
    func configuration() throws {
        let folder = try TemporaryFolder()
        for (text, verdict) in [
            ("log: {level: loud}", .failed), ("instance: attic", .warning), ("tags: [{serial: '0001'}]", .ok),
        ] as [(String, Finding.Verdict)] {
            try folder.write(text, to: "c.yaml")
            let loaded = ConfigurationFile.load(path: folder.path("c.yaml"), environment: [:])
            #expect(ConfigurationCheck.finding(loaded).verdict == verdict)
        }
    }

    @Test("a report has the status of its worst finding, and only a failure exits with 1")
    func report() {
        let findings = [
            Finding(.clock, .ok, "fine"), Finding(.adapter, .skipped, "no"),
            Finding(.bridge, .warning, "two", remedies: ["do this"]),
        ]
        let report = DoctorReport(findings: findings)
        #expect(report.status == .warning)
        #expect(report.exitCode == .done)
        #expect(report.lines.suffix(2) == ["warning  bridge          two", "         -> do this"])
        #expect(report.document["checks"]?.elements?.last?["remedies"] == ["do this"])
        let failed = DoctorReport(findings: findings + [Finding(.systemBus, .failed, "gone")])
        #expect(failed.exitCode == .failed)
        #expect(DoctorReport(findings: [Finding(.adapter, .skipped, "no")]).status == .ok)
        let finding = Finding(.stateFolder, .warning, "x", remedies: ["sudo -u a jacquard2mqtt doctor"])
        let hint = CommandHint(config: "my.yaml", commands: [DoctorCommand.row.description])
        let repeated = DoctorReport(findings: [finding], hint: hint)
        #expect(repeated.lines.last == "         -> sudo -u a jacquard2mqtt doctor --config my.yaml")
    }

    @Test("the clock's time is shown")
    func clockText() {
        #expect(ClockCheck.finding(unixSeconds: 1_795_168_800).found.hasPrefix("2026-11-20T10:00:00"))
    }
}
