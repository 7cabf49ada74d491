import Bridge
import BrokerAccess
import EventLoop
import Logging
import Terminal
import TestSupport
import Testing

@testable import CommandLine
@testable import Configuration
@testable import Doctor

@Suite("Doctor")
struct ExaminationTests {
    @Test("runs each check once, with a bus without BlueZ and a broker without a bridge")
    func everything() async throws {
        try await onLoop {
            let bus = try await PrivateBus()
            let broker = try await PrivateBroker()
            let findings = await Self.findings(bus.address, broker.port)
            #expect(findings.map(\.check) == Check.ofCommand)
            let verdicts = Dictionary(uniqueKeysWithValues: findings.map { ($0.check, $0.verdict) })
            for check in [.configuration, .systemBus, .brokerReach, .brokerLogin, .brokerPermissions] as [Check] {
                #expect(verdicts[check] == .ok, "\(check)")
            }
            #expect(verdicts[.bluetoothService] == .failed)
            #expect(verdicts[.adapter] == .skipped)
            #expect(verdicts[.homeAssistant] == .ok)
        }
    }

    @Test(
        "finds topics that the broker's access control denies",
        arguments: [.automatic, .v311] as [Settings.MQTT.Version])
    func accessControl(version: Settings.MQTT.Version) async throws {
        let folder = try ScratchFolder()
        let rules = try folder.write("acl", "topic readwrite jacquard/#\n")
        try await onLoop {
            // With Debian's mosquitto a queue without limit makes a refusal end the connection.
            let broker = try await PrivateBroker(options: ["acl_file \(rules)", "max_queued_messages 1000"])
            let finding = await Self.findings("unix:path=/nonexistent", broker.port, version)
                .first { $0.check == .brokerPermissions }
            #expect(finding?.verdict == .failed)
            #expect(finding?.remedies.contains("topic readwrite homeassistant/#") == true)
            #expect(finding?.remedies.contains { $0.contains("jacquard/") } == false)
        }
    }

    @Test("continues without a broker and without a configuration")
    func nothing() async throws {
        let folder = try TemporaryFolder()
        try folder.write("nonsense: 1", to: "c.yaml")
        let broken = ConfigurationFile.load(path: folder.path("c.yaml"), environment: [:])
        try await onLoop {
            let nobody = try ReservedPort()
            let findings = await Self.findings("unix:path=/nonexistent", nobody.number)
            #expect(findings.map(\.check) == Check.ofCommand)
            #expect(findings.first { $0.check == .systemBus }?.verdict == .failed)
            #expect(findings.first { $0.check == .brokerReach }?.verdict == .failed)
            let examination = Examination(
                loaded: broken, busAddress: "unix:path=/nonexistent", stateFolder: "/",
                log: Logger("t", to: MemorySink()))
            let blind = await examination.findings()
            #expect(blind.map(\.check) == Check.ofCommand)
            #expect(blind.first { $0.check == .brokerReach }?.verdict == .skipped)
        }
    }

    @LoopActor
    private static func findings(
        _ bus: String, _ port: UInt16, _ version: Settings.MQTT.Version = .automatic
    ) async -> [Finding] {
        let loaded = LoadedConfiguration(configuration: .test(port, version: version), file: "c.yaml", notices: [])
        let examination = Examination(
            loaded: .success(loaded), busAddress: bus, stateFolder: "/tmp", log: Logger("test", to: MemorySink()))
        return await examination.findings()
    }
}
