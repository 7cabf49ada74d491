import EventLoop
import Logging

/// Writes the metrics again and again, as long as there is a file for them.
@LoopActor
final class MetricsWriter {
    private let log: Logger
    private let text: () -> String
    private var settings = Configuration.Metrics()
    private var isWriting = false
    private var hasFailed = false
    private lazy var timer = LoopTimer { [unowned self] in write() }

    /// - Parameters:
    ///   - log: told when it fails, and when it works again.
    ///   - text: makes the metrics of the moment.
    init(log: Logger, text: @escaping () -> String) {
        self.log = log
        self.text = text
    }

    /// Begins, goes on elsewhere, or ends, as the settings say.
    func follow(_ settings: Configuration.Metrics) {
        guard settings != self.settings else { return }
        // What was said of one file says nothing of another.
        if settings.file != self.settings.file { hasFailed = false }
        self.settings = settings
        timer.disarm()
        write()
    }

    /// Ends; the file stays as it is, and grows old.
    func stop() {
        timer.disarm()
        settings.file = nil
    }

    private func write() {
        guard let file = settings.file else { return }
        timer.arm(after: settings.interval, accuracy: .seconds(1))
        guard !isWriting else { return }
        isWriting = true
        EventLoop.shared.begin { await self.write(self.text(), to: file) }
    }

    private func write(_ text: String, to file: String) async {
        let failure = await HelperThread.shared.run { () -> FileError? in
            do throws(FileError) {
                // Others read it: the collector is another user. It is worth nothing after a power cut.
                try AtomicFile.write(Array(text.utf8), to: file, mode: 0o644, isDurable: false)
                return nil
            } catch {
                return error
            }
        }
        isWriting = false
        // The settings may have changed meanwhile.
        guard file == settings.file else { return self.write() }
        report(failure, file)
    }

    /// One line when it begins to fail and one when it works again.
    private func report(_ failure: FileError?, _ file: String) {
        switch (failure, hasFailed) {
        case (let failure?, false): log.warning("cannot write metrics", [(.path, file), (.error, failure.reason)])
        case (nil, true): log.notice("metrics are written again", [(.path, file)])
        default: break
        }
        hasFailed = failure != nil
    }
}
