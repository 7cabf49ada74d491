import BlueZ
public import Bridge
import BrokerAccess
public import Configuration
public import EventLoop
public import Logging
import Time

/// Examines the host for a running bridge, with the checks of `doctor`.
///
/// The broker is left out, because the bridge knows its own connection. Each part runs on the helper thread or as calls on
/// the bus, at the same time as the others. A part without an answer at the deadline is a finding itself. It is not
/// started again before it has ended, so that a device or bus that hangs binds one thread or connection only.
@LoopActor
public final class HostDoctor {
    /// A set of checks that fails as a whole.
    enum Part: String, CaseIterable, Sendable {
        case configuration, bluetooth, version, radio, folder

        /// The checks, in the order of the report.
        var checks: [Check] {
            switch self {
            case .configuration: [.configuration]
            case .bluetooth: [.systemBus, .bluetoothService, .bluetoothPolicy, .adapter]
            case .version: [.bluezVersion]
            case .radio: [.radioSwitch, .sharedChip]
            case .folder: [.stateFolder]
            }
        }

        /// Remedies if there is no answer.
        var remedies: [String] {
            switch self {
            case .configuration, .folder: ["check the disk: sudo dmesg | tail"]
            case .bluetooth: ["systemctl status dbus bluetooth", "sudo systemctl restart bluetooth"]
            case .version: ["bluetoothctl --version"]
            case .radio: ["sudo dmesg | tail"]
            }
        }

        /// The findings of a part without an answer.
        func silent(_ text: String) -> HostReport {
            let skipped = checks.dropFirst().map { Finding($0, .skipped, "not checked: \(checks[0].title) \(text)") }
            // The version is for information only.
            let verdict = self == .version ? Finding.Verdict.warning : .failed
            return HostReport(findings: [Finding(checks[0], verdict, text, remedies: remedies)] + skipped)
        }
    }

    private let busAddress: String
    private let stateFolder: String
    private let load: @Sendable () -> Result<LoadedConfiguration, ConfigurationErrors>
    private let limit: Duration
    private let machine: Machine
    private let log: Logger
    /// Looked at once: these don't change while the process runs, but for an installation of BlueZ.
    let surroundings: Cause.Surroundings
    /// The parts that have not ended yet.
    private var pending: Set<Part> = []

    /// The time limit for all parts together.
    public static let limit = Duration.milliseconds(1_500)

    /// - Parameters:
    ///   - busAddress: the address of the bus with BlueZ.
    ///   - stateFolder: the folder with the known tags.
    ///   - load: reads the configuration; called on the helper thread.
    ///   - log: for log records of the libraries.
    public convenience init(
        busAddress: String, stateFolder: String,
        load: @escaping @Sendable () -> Result<LoadedConfiguration, ConfigurationErrors>, log: Logger
    ) {
        self.init(
            busAddress: busAddress, stateFolder: stateFolder, load: load, log: log, limit: Self.limit,
            machine: Machine())
    }

    init(
        busAddress: String, stateFolder: String,
        load: @escaping @Sendable () -> Result<LoadedConfiguration, ConfigurationErrors>, log: Logger,
        limit: Duration, machine: Machine
    ) {
        self.busAddress = busAddress
        self.stateFolder = stateFolder
        self.load = load
        self.limit = limit
        self.machine = machine
        surroundings = machine.surroundings
        self.log = log
    }

    /// Runs all checks once, within ``limit``.
    ///
    /// - Parameters:
    ///   - adapter: the adapter that the bridge is configured to use.
    ///   - isUsed: whether the bridge uses an adapter of this host; it knows its other radios itself.
    /// - Returns: the findings and the bonds.
    public func report(adapter: Settings.Bluetooth.Adapter, isUsed: Bool = true) async -> HostReport {
        let deadline = Instant.now + limit
        guard isUsed else {
            async let configuration = report(of: .configuration, adapter, until: deadline)
            async let folder = report(of: .folder, adapter, until: deadline)
            let clock = ClockCheck.finding(unixSeconds: machine.unixSeconds())
            return HostReport(findings: await configuration.findings + folder.findings + [clock])
        }
        async let configuration = report(of: .configuration, adapter, until: deadline)
        async let bluetooth = report(of: .bluetooth, adapter, until: deadline)
        async let version = report(of: .version, adapter, until: deadline)
        async let radio = report(of: .radio, adapter, until: deadline)
        async let folder = report(of: .folder, adapter, until: deadline)
        let reports = await [configuration, bluetooth, version, radio, folder]
        let clock = ClockCheck.finding(unixSeconds: machine.unixSeconds())
        return HostReport(
            findings: reports.flatMap(\.findings) + [clock], bonds: reports.lazy.compactMap(\.bonds).first)
    }

    private func report(
        of part: Part, _ adapter: Settings.Bluetooth.Adapter, until deadline: Instant
    ) async -> HostReport {
        guard pending.insert(part).inserted else { return part.silent("no answer since an earlier request") }
        let mailbox = Mailbox<HostReport>()
        EventLoop.shared.begin {
            let report = await self.examine(part, adapter)
            self.pending.remove(part)
            mailbox.put(report)
        }
        return await mailbox.next(until: deadline) ?? part.silent("no answer within \(limit.milliseconds) ms")
    }

    private func examine(_ part: Part, _ adapter: Settings.Bluetooth.Adapter) async -> HostReport {
        let (load, machine, stateFolder) = (load, machine, stateFolder)
        switch part {
        case .configuration:
            let loaded = await HelperThread.shared.run(.doctorConfiguration) { load() }
            return HostReport(findings: [ConfigurationCheck.finding(loaded)])
        case .bluetooth:
            // Shorter than the limit, so that a call without a reply is reported by its own check.
            let patience = limit * 2 / 3
            let facts = await BluetoothProbe(busAddress: busAddress, log: log, patience: patience).facts()
            return HostReport(findings: machine.findings(facts, at: busAddress, adapter), bonds: facts.bonds)
        case .version:
            let version = await BlueZVersion.output(of: machine.bluetoothTool)
            return HostReport(findings: [
                BlueZVersionCheck.finding(version, isInContainer: SystemBusCheck.isInContainer(machine.containerMarks))
            ])
        case .radio:
            return HostReport(findings: await HelperThread.shared.run(.doctorRadio) { machine.radioFindings })
        case .folder:
            let facts = await HelperThread.shared.run(.doctorFolder) { StateFolderCheck.probe(stateFolder) }
            return HostReport(findings: [StateFolderCheck.finding(facts)])
        }
    }
}

extension HelperThread.Concern {
    /// Reading the configuration for an examination.
    fileprivate static let doctorConfiguration = HelperThread.Concern("doctor configuration")
    /// Reading the kernel's list of radios.
    fileprivate static let doctorRadio = HelperThread.Concern("doctor radio")
    /// Looking at the state folder.
    fileprivate static let doctorFolder = HelperThread.Concern("doctor folder")
}
