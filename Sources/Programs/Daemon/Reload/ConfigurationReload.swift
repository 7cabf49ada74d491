import Configuration
import EventLoop
import Glibc
import Logging

/// Reloads the configuration at SIGHUP, one reload at a time. An invalid configuration changes nothing.
@LoopActor
final class ConfigurationReload {
    /// The result of every reload is logged under this label.
    nonisolated static let logLabel = "reload"

    private let source: ConfigurationSource
    private let log: Logger
    private var signal: SignalSource?
    private var service: BridgeService?
    private var isReading = false
    private var isAskedFor = false

    init(_ source: ConfigurationSource, log: Logger) {
        self.source = source
        self.log = log.labelled(Self.logLabel)
    }

    /// Installs the signal handler. A signal that arrives before ``begin(for:)`` is handled then.
    ///
    /// - Throws: `SystemError` if the handler cannot be installed.
    func listen() throws(SystemError) {
        signal = try SignalSource(SIGHUP) { [unowned self] in request() }
    }

    /// Reads the configuration again. A request before ``begin(for:)`` is handled then.
    func request() {
        isAskedFor = true
        readIfAsked()
    }

    /// Starts reloading for a service.
    func begin(for service: BridgeService) {
        self.service = service
        readIfAsked()
    }

    /// The service is stopping: later signals, and a read that is under way, have no effect.
    func end() {
        service = nil
    }

    private func readIfAsked() {
        guard isAskedFor, !isReading, service != nil else { return }
        isReading = true
        EventLoop.shared.begin {
            while self.isAskedFor, self.service != nil { await self.read() }
            self.isReading = false
        }
    }

    private func read() async {
        isAskedFor = false
        ServiceNotification.reloading()
        let source = source
        let result = await HelperThread.shared.run(.configuration) { source.load() }
        await take(result)
        // Don't report READY after STOPPING.
        if service != nil { ServiceNotification.ready() }
    }

    private func take(_ result: Result<LoadedConfiguration, ConfigurationErrors>) async {
        guard let service else { return }
        switch result {
        case .failure(let errors):
            errors.lines.forEach { log.error("the configuration is not taken", [(.error, $0)]) }
        case .success(let loaded):
            loaded.notices.forEach { log.notice("configuration", [(.reason, $0)]) }
            let changes = await service.adopt(loaded.configuration)
            guard changes > 0 else {
                return log.notice("the configuration was read again, and nothing is different")
            }
            log.notice("the configuration was read again, and differs", [(.count, "\(changes)")])
        }
    }
}

extension HelperThread.Concern {
    /// Reading the configuration.
    fileprivate static let configuration = HelperThread.Concern("configuration")
}
