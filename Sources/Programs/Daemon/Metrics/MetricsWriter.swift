import Bridge
import Configuration
import EventLoop
import Logging

/// Writes the metrics to their file at an interval, while a file is configured.
@LoopActor
final class MetricsWriter {
    private let log: Logger
    private let text: () -> String
    private var settings = Settings.Metrics()
    private var isWriting = false
    /// Whether the settings have changed since the write that goes on began: another one follows it.
    private var isOutdated = false
    private lazy var timer = LoopTimer { [unowned self] in write() }
    private lazy var limit = LoopTimer { [unowned self] in report(.overdue) }
    /// Called when writing the file begins to fail, and when it works again.
    var onChange: (@LoopActor () -> Void)?
    /// Why the file cannot be written; nil while it can.
    private(set) var failure: UnwritableFile? {
        didSet { if failure != oldValue { onChange?() } }
    }

    /// - Parameters:
    ///   - log: gets a line when writing fails, and when it works again.
    ///   - text: makes the metrics of the moment.
    init(log: Logger, text: @escaping () -> String) {
        self.log = log
        self.text = text
    }

    /// Starts, changes or stops writing according to the settings.
    func follow(_ settings: Settings.Metrics) {
        guard settings != self.settings else { return }
        // A failure of the old file does not apply to the new one.
        if settings.file != self.settings.file { failure = nil }
        self.settings = settings
        isOutdated = isWriting
        timer.disarm()
        write()
    }

    /// Stops writing. The file keeps its last contents.
    func stop() {
        timer.disarm()
        settings.file = nil
    }

    private func write() {
        guard let file = settings.file else { return }
        timer.arm(after: settings.interval, accuracy: .seconds(1))
        guard !isWriting else { return }
        isWriting = true
        limit.arm(after: FileError.patience)
        EventLoop.shared.begin { await self.write(self.text(), to: file) }
    }

    private func write(_ text: String, to file: String) async {
        let failure = await HelperThread.shared.failure(.metrics) { () throws(FileError) in
            // World-readable, because the collector runs as another user. Not durable, because metrics are
            // worthless after a power cut.
            try AtomicFile.write(Array(text.utf8), to: file, mode: 0o644, isDurable: false)
        }
        isWriting = false
        limit.disarm()
        guard !isOutdated else {
            isOutdated = false
            return self.write()
        }
        report(failure)
    }

    /// Logs the first failure, and the recovery.
    private func report(_ error: FileError?) {
        guard let file = settings.file else { return }
        switch (error, failure) {
        case (let error?, nil): log.warning("cannot write metrics", [(.path, file), (.error, error.reason)])
        case (nil, _?): log.notice("metrics are written again", [(.path, file)])
        default: break
        }
        failure = error.map { UnwritableFile(.metrics, file, reason: $0.reason) }
    }
}

extension HelperThread.Concern {
    /// Writing the metrics.
    fileprivate static let metrics = HelperThread.Concern("metrics")
}
