import Bridge
import BrokerAccess
import CommandLine
import Configuration
import DBus
import Doctor
import EventLoop
import Glibc
import JSON
import Logging
import Terminal
import Text

/// `run`: runs the bridge until SIGTERM or SIGINT.
struct RunCommand: CommandAction, Hashable {
    /// The file of `--config`; nil: the default search path.
    let config: String?
    /// The folder of `--state`; nil: that of the service manager or of an installed bridge.
    let state: String?
    /// The level of `--log-level`; nil: that of the configuration.
    let logLevel: LogLevel?

    /// Runs the loop on the calling thread.
    ///
    /// - Returns: `done` after a clean stop, `wrongUsage` when the configuration has an error, `failed` when another bridge uses
    ///   the state folder.
    func run(in context: CommandContext) -> ExitCode {
        let environment = context.environment
        let source = ConfigurationSource(path: config, logLevel: logLevel, environment: environment)
        switch source.load() {
        case .failure(let failure):
            failure.lines.forEach { OutputChannel.standardError.write($0) }
            return .wrongUsage
        case .success(let loaded):
            return serve(loaded, source, environment)
        }
    }

    private func serve(
        _ loaded: LoadedConfiguration, _ source: ConfigurationSource, _ environment: [String: String]
    ) -> ExitCode {
        // A write to a closed connection returns an error instead.
        signal(SIGPIPE, SIG_IGN)
        let recent = RecentLog(Self.sink(loaded.configuration.log, environment), since: .now)
        let sink = LogTap(
            CalmSink(recent, answering: [ConfigurationReload.logLabel], now: { .now }),
            now: { LogTime(.now, unixMilliseconds: WallClock.unixMilliseconds) })
        let folder = StateFolder(option: state, environment: environment)
        let lock = StateLock.take(in: folder)
        guard Self.mayUse(folder, lock, Logger("daemon", to: sink)) else { return .failed }
        let bus = SystemBus.address(environment)
        EventLoop.shared.begin {
            await Self.serve(loaded, source, folder, bus, sink, recent)
            EventLoop.shared.stop()
        }
        EventLoop.shared.run()
        return withExtendedLifetime(lock) { .done }
    }

    /// Returns whether the state folder may be used: no other bridge is known to use it.
    private static func mayUse(_ folder: StateFolder, _ lock: StateLock.Outcome, _ log: Logger) -> Bool {
        let log = log.with(.endpoint, folder.path)
        switch lock {
        case .held: return true
        case .unavailable(let error):
            log.warning("cannot lock the state folder", [(.error, error.reason)])
            return true
        case .inUse(let process):
            let holder = process.map { [(LogKey.process, "\($0)")] } ?? []
            let remedy = "Stop the other bridge, or give this one a folder of its own: --state DIR."
            log.error("the state folder is used by another process", holder + [(.reason, remedy)])
            return false
        }
    }

    @LoopActor
    private static func serve(
        _ loaded: LoadedConfiguration, _ source: ConfigurationSource, _ folder: StateFolder, _ bus: String,
        _ sink: LogTap, _ recent: RecentLog
    ) async {
        let log = Logger("daemon", to: sink)
        let end = TerminationSignals()
        let reload = ConfigurationReload(source, log: log)
        do throws(SystemError) {
            try end.listen()
            try reload.listen()
        } catch {
            log.error("cannot take signals", [(.error, error.description)])
        }
        log.notice("starting", [(.version, Version.current), (.path, loaded.file)])
        loaded.notices.forEach { log.notice("configuration", [(.reason, $0)]) }
        if !loaded.ignoredVariables.isEmpty {
            log.debug(
                "variables of containers set no key", [(.setting, loaded.ignoredVariables.joined(separator: " "))])
        }
        let bridge = await RunningBridge.start(loaded, source, reload, folder, bus: bus, .real(bus: bus), sink, recent)
        ServiceNotification.ready()
        EventLoop.shared.enableWatchdog()
        bridge.acceptReloads()
        await end.wait()
        log.notice("stopping")
        bridge.refuseReloads()
        ServiceNotification.stopping()
        await bridge.stop()
        log.notice("stopped")
    }

    private static func sink(_ settings: Settings.Log, _ environment: [String: String]) -> any LogSink {
        let now: @Sendable () -> String = { TimeText.utc(WallClock.unixMilliseconds) }
        let isJournal = JournalSink.isBehindStandardError(environment["JOURNAL_STREAM"])
        return switch settings.format {
        case .automatic where isJournal: JournalSink(level: settings.level)
        // The journal adds a time stamp to each line.
        case .text where isJournal: StreamSink(format: .journalStream, level: settings.level)
        case .automatic, .text: StreamSink(format: .text, level: settings.level, timeStamp: now)
        case .json: StreamSink(format: .json, level: settings.level, timeStamp: now)
        }
    }
}

extension RunCommand {
    static let row = Command<any CommandAction>(
        name: "run",
        summary: "run the bridge",
        details: [
            "Connects the tags to the broker until SIGTERM or SIGINT. On SIGHUP it reads",
            "its configuration again. The systemd service executes this command.",
        ],
        options: [.config, .state, logLevelOption]
    ) { arguments throws(CommandLineError) in
        RunCommand(
            config: arguments.options[OptionDescription.config.name],
            state: arguments.options[OptionDescription.state.name],
            logLevel: try arguments.value(of: logLevelOption, .choice))
    }

    private static let logLevelOption = OptionDescription(
        name: "--log-level",
        value: "LEVEL",
        completion: .words(LogLevel.allCases.map(\.rawValue)),
        details: [
            "The log level, instead of the one in the configuration:",
            ScalarRule<LogLevel>.choice.allowed + ".",
        ])
}
