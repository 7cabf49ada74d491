import Bridge
import EventLoop
import Glibc
import Logging
import Synchronization
import TestSupport
import Testing
import Time

@testable import Configuration
@testable import Doctor

@Suite("The doctor inside a running bridge")
struct HostDoctorTests {
    @LoopActor
    private static func doctor(
        _ bus: String = "unix:path=/nonexistent", limit: Duration = HostDoctor.limit,
        load: @escaping @Sendable () -> Result<LoadedConfiguration, ConfigurationErrors> = {
            .success(LoadedConfiguration(configuration: Settings.test(1), file: "c.yaml", notices: []))
        }
    ) -> HostDoctor {
        var machine = Machine()
        machine.bluetoothTool = "/nonexistent/bluetoothctl"
        return HostDoctor(
            busAddress: bus, stateFolder: "/", load: load, log: Logger("test", to: MemorySink()), limit: limit,
            machine: machine)
    }

    @Test("has the findings of the command about the host")
    func host() async throws {
        try await onLoop {
            let bus = try await PrivateBus()
            let report = await Self.doctor(bus.address, limit: .seconds(60)).report(adapter: .automatic)
            #expect(
                Set(report.findings.map(\.check)) == [
                    .configuration, .systemBus, .bluetoothService, .bluetoothPolicy, .adapter, .bluezVersion,
                    .radioSwitch, .sharedChip, .stateFolder, .clock,
                ])
            #expect(report.findings.first { $0.check == .systemBus }?.verdict == .ok)
            #expect(report.findings.first { $0.check == .bluetoothService }?.verdict == .failed)
            #expect(report.bonds == nil)
        }
    }

    @Test("answers in time when a file and the bus hang, with these as findings, and starts each part only once")
    func hanging() async throws {
        let gate = Gate()
        try await onLoop {
            // A listener that never answers.
            let folder = try ScratchFolder()
            let silent = try SilentSocket(folder.path + "/bus")
            let reads = Counter()
            let doctor = Self.doctor("unix:path=\(silent.path)", limit: .milliseconds(300)) {
                reads.add()
                gate.wait()
                return .success(LoadedConfiguration(configuration: Settings.test(1), file: "c.yaml", notices: []))
            }
            for round in 0..<3 {
                let report = await doctor.report(adapter: .automatic)
                let configuration = report.findings.first { $0.check == .configuration }
                let bus = report.findings.first { $0.check == .systemBus }
                #expect(configuration?.verdict == .failed && bus?.verdict == .failed)
                #expect(configuration?.remedies.isEmpty == false && bus?.remedies.isEmpty == false)
                #expect(report.findings.first { $0.check == .adapter }?.verdict == .skipped)
                let text = round == 0 ? "no answer within 300 ms" : "no answer since an earlier request"
                #expect(configuration?.found == text && bus?.found == text)
                #expect(report.findings.first { $0.check == .radioSwitch }?.verdict != nil)
            }
            #expect(reads.count == 1)
            gate.open()
            let deadline = Instant.now + .seconds(20)
            var verdict: Finding.Verdict?
            while verdict != .ok, Instant.now < deadline {
                let report = await doctor.report(adapter: .automatic)
                verdict = report.findings.first { $0.check == .configuration }?.verdict
            }
            #expect(verdict == .ok)
        }
    }
}

/// Blocks threads until it is opened.
private final class Gate: Sendable {
    private let isOpen = Atomic(false)

    func open() { isOpen.store(true, ordering: .relaxed) }

    func wait() {
        while !isOpen.load(ordering: .relaxed) { usleep(1_000) }
    }
}

private final class Counter: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    func add() { value.withLock { $0 += 1 } }
}

/// A listening socket that accepts connections into its backlog and sends nothing.
private final class SilentSocket: Sendable {
    let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0 && listen(descriptor, 8) == 0)
    }

    deinit { close(descriptor) }
}
