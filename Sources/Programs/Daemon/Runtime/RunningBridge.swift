import Bridge
import Configuration
import Doctor
package import EventLoop
package import Logging

/// One bridge: its state, its service and its configuration. A process can have several.
@LoopActor
package final class RunningBridge {
    private let service: BridgeService
    private let reload: ConfigurationReload

    private init(_ service: BridgeService, _ reload: ConfigurationReload) {
        self.service = service
        self.reload = reload
    }

    /// Reads the configuration and the state, and starts a bridge.
    ///
    /// - Parameters:
    ///   - file: the configuration file.
    ///   - state: the state folder.
    ///   - machine: the machine.
    ///   - sink: the destination of log lines.
    /// - Returns: the bridge; nil if the configuration has an error, which is logged.
    package static func start(
        _ file: String, state: String, on machine: BridgeMachine, logTo sink: any LogSink
    ) async -> RunningBridge? {
        let source = ConfigurationSource(path: file, logLevel: nil, environment: [:])
        let recent = RecentLog(sink, since: .now)
        let tap = LogTap(
            CalmSink(recent, answering: [ConfigurationReload.logLabel], now: { .now }),
            now: { LogTime(.now, unixMilliseconds: WallClock.unixMilliseconds) })
        let log = Logger("daemon", to: tap)
        switch source.load() {
        case .failure(let errors):
            errors.lines.forEach { log.error("the configuration is not taken", [(.error, $0)]) }
            return nil
        case .success(let loaded):
            return await start(
                loaded, source, ConfigurationReload(source, log: log), StateFolder(option: state, environment: [:]),
                bus: "", machine, tap, recent)
        }
    }

    /// Reads the state and starts a bridge.
    ///
    /// - Parameters:
    ///   - loaded: the configuration.
    ///   - source: where it comes from.
    ///   - reload: reads it again.
    ///   - folder: the state folder.
    ///   - bus: the address of the bus that the doctor examines.
    ///   - machine: the machine.
    ///   - sink: the destination of log lines.
    ///   - recent: keeps the newest ones.
    /// - Returns: the bridge. It is started, and takes no other configuration before ``acceptReloads()``.
    static func start(
        _ loaded: LoadedConfiguration, _ source: ConfigurationSource, _ reload: ConfigurationReload,
        _ folder: StateFolder, bus: String, _ machine: BridgeMachine, _ sink: LogTap, _ recent: RecentLog
    ) async -> RunningBridge {
        var machine = machine
        let log = Logger("daemon", to: sink)
        let boot = String(UInt16.random(in: 0x1000 ... .max, using: &machine.random), radix: 16)
        let store = TagStore(folder, log: log.labelled("state"))
        await store.load()
        let batteries = BatteryStore(folder, log: log.labelled("state"))
        await batteries.load(for: store.isComplete ? Set(store.tags.keys) : nil)
        let recorder = await EventRecorder.start(loaded.configuration, folder, log: log.labelled("state"))
        let known = max(store.tags.count, loaded.configuration.tags.count)
        if let complaint = DescriptorLimit.complaint(about: DescriptorLimit.raise(), tags: known) {
            log.warning("few descriptors", [(.reason, complaint)])
        }
        let runs = RunStore(folder, log: log.labelled("state"))
        let former = await runs.begin(
            loaded.configuration.instance, boot: boot, at: PublishedPlace(loaded.configuration.bridgeConfiguration))
        let doctor = HostDoctor(
            busAddress: bus, stateFolder: folder.path, load: { source.load() }, log: log.labelled("doctor"))
        let service = BridgeService(
            loaded.configuration, store: store, batteries: batteries, recorder: recorder, runs: runs, former: former,
            doctor: doctor, machine: machine, boot: boot, sink: sink, recentLog: recent)
        service.start()
        return RunningBridge(service, reload)
    }

    /// Takes changed configurations from now on.
    package func acceptReloads() {
        reload.begin(for: service)
    }

    /// Reads the configuration file again, as at SIGHUP.
    package func readConfiguration() {
        reload.request()
    }

    /// The bridge is stopping: a configuration that is being read is not taken.
    package func refuseReloads() {
        reload.end()
    }

    /// Stops the bridge: at most 4 s for the radio and its links and, at the same time, 4.5 s for the broker and the state file.
    package func stop() async {
        await service.stop()
    }

    /// The number of messages that wait for the broker.
    package var queued: Int { service.outbox.queued }
}
