import Bridge
import BrokerAccess
import DBus
import EventLoop
import JSON
import Logging
import MQTT
import Terminal
import TestSupport
import Testing

@testable import CommandLine
@testable import Configuration
@testable import Doctor

@Suite("Doctor: broken installations")
struct BrokenSetupTests {
    @Test("each is reported with a remedy", arguments: BrokenSetup.all)
    func each(setup: BrokenSetup) async throws {
        try await onLoop {
            let bench = try Bench()
            try await setup.arrange(bench)
            let findings = await Self.examine(bench)
            let finding = try #require(findings.first { $0.check == setup.check })
            #expect(finding.verdict == setup.verdict, "\(findings)")
            #expect(finding.found.contains(setup.cause), "\(finding)")
            #expect(finding.remedies.contains { $0.contains(setup.remedy) }, "\(finding)")
            // For machines the same.
            let document = DoctorReport(findings: findings).document
            let checks = document["checks"]?.elements ?? []
            #expect(
                checks.contains { $0["name"] == .string(setup.check.rawValue) && $0["found"] == .string(finding.found) }
            )
        }
    }

    @Test("a broker that is silent to MQTT 5 is reached with 3.1.1, as by the bridge")
    func silentToVersion5() async throws {
        try await onLoop {
            let bench = try Bench()
            try bench.server { version, _ in version == 4 ? .send([0x20, 2, 0, 0]) : .nothing }
            let session = BrokerSession(bench.configuration, log: Logger("test", to: MemorySink()))
            #expect(await session.connect() == .accepted(.v311))
            await session.close()
        }
    }

    @Test("are at least twelve, each with its own name")
    func number() {
        #expect(BrokenSetup.all.count >= 12)
        #expect(Set(BrokenSetup.all.map(\.name)).count == BrokenSetup.all.count)
    }

    @Test("AppArmor is distinguished from the policy of the bus")
    func appArmor() {
        var facts = BluetoothFacts()
        facts.isServiceRunning = true
        facts.callError = .init(
            .refused, name: "org.freedesktop.DBus.Error.AccessDenied",
            text: "An AppArmor policy prevents this sender from sending this message to this recipient")
        let finding = BluetoothPolicyCheck.finding(facts)
        #expect(finding.verdict == .failed)
        #expect(finding.found.hasPrefix("AppArmor"))
        #expect(finding.remedies.last == "in a container: docker run --security-opt apparmor=unconfined ...")
    }

    @LoopActor
    private static func examine(_ bench: Bench) async -> [Finding] {
        let loaded = LoadedConfiguration(configuration: bench.configuration, file: "c.yaml", notices: [])
        return await Examination(
            loaded: .success(loaded), busAddress: bench.bus, stateFolder: bench.folder.path, machine: bench.machine,
            log: Logger("test", to: MemorySink())
        ).findings()
    }
}
