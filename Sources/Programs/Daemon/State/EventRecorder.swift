import Bridge
import Configuration
import EventLoop
import JacquardProtocol
import Logging

/// Records the events of tags for `replay`, while `record.hours` is set.
///
/// The loop only collects publications. The helper thread makes lines of them and writes the file, ten seconds after an
/// event or when many are waiting.
@LoopActor
final class EventRecorder {
    private let file: EventFile
    private let log: Logger
    private let prefix: String
    private let delay: Duration
    /// How often the file is written without an event, to erase old ones.
    private let interval: Duration
    private var entries: [EventHistory.Entry] = []
    /// The size of the entries.
    private var bytes = 0
    /// Number of events that were dropped because the file could not be written in time.
    private var dropped = 0
    /// Number of lost events that were logged.
    private var logged = 0
    /// Number of lost events after the previous write.
    private var lostBefore = 0
    private var isWriting = false
    private var isFailing = false
    private lazy var timer = LoopTimer { [unowned self] in begin() }
    /// The caller of ``finish(within:)``.
    private let finishing = FinishWaiter()

    /// From this size of the entries, the file is written without delay.
    private static let batchSize = 64 << 10
    /// Maximum size of the entries that are not written.
    private static let maxSize = 256 << 10
    /// The size of an entry in memory, besides topic and payload.
    private static let entrySize = 160
    /// How long after a failure the file is written again.
    private static let retryInterval = Duration.seconds(30)

    private init(_ file: EventFile, _ settings: Settings, delay: Duration, log: Logger) {
        self.file = file
        self.log = log
        self.delay = delay
        prefix = settings.mqtt.baseTopic + "/tag/"
        interval = file.blockSpan
    }

    /// Reads the file and starts to record.
    ///
    /// - Parameters:
    ///   - settings: the configuration.
    ///   - folder: where the file is.
    ///   - delay: how long after an event the file is written.
    ///   - log: where failures are logged.
    /// - Returns: nil if recording is off, or if the file cannot be read, which is logged.
    static func start(
        _ settings: Settings, _ folder: StateFolder, delay: Duration = .seconds(10), log: Logger
    ) async -> EventRecorder? {
        guard settings.record.hours > 0 else { return nil }
        let file = EventFile(folder, base: settings.mqtt.baseTopic, hours: settings.record.hours)
        let log = log.with(.path, file.path)
        let result = await HelperThread.shared.run(.events) {
            Result { () throws(FileError) in try file.load() }
        }
        switch result {
        case .failure(let error):
            log.error("cannot read the file of events, and will not record any", [(.error, error.reason)])
            return nil
        case .success(let findings):
            for path in findings.setAside {
                log.error("a file of events is damaged and was set aside", [(.endpoint, path)])
            }
            if findings.damagedBlocks > 0 {
                log.warning("damaged blocks of events are left out", [(.count, "\(findings.damagedBlocks)")])
            }
            let recorder = EventRecorder(file, settings, delay: delay, log: log)
            recorder.schedule()
            return recorder
        }
    }

    /// Records a publication if it is an event of a tag.
    func record(_ publication: Publication, at now: Timestamp) {
        switch publication.kind {
        case .fact, .event, .result: break
        case .step, .reminder, .correction, .stream: return
        }
        guard publication.topic.hasPrefix(prefix) else { return }
        let size = publication.topic.utf8.count + publication.payload.count + Self.entrySize
        guard bytes + size <= Self.maxSize else {
            dropped += 1
            return
        }
        bytes += size
        entries.append(.published(publication, at: now.unixMilliseconds))
        schedule()
    }

    /// Removes a forgotten tag from the table of tags.
    func forget(_ id: TagID) {
        entries.append(.forgotten(id))
        schedule()
    }

    /// Waits until all events are written, or until the timeout.
    func finish(within limit: Duration = .seconds(2)) async {
        guard !entries.isEmpty || isWriting || isFailing else { return }
        await finishing.wait(atMost: limit) { begin() }
    }

    /// Schedules the next write. Entries that come during a write are scheduled at its end.
    private func schedule() {
        guard !isWriting else { return }
        if finishing.isWaiting || bytes >= Self.batchSize && !isFailing {
            timer.arm(after: .zero)
        } else if entries.isEmpty {
            timer.arm(after: isFailing ? Self.retryInterval : interval, accuracy: .seconds(10))
        } else if entries.count == 1 || !timer.isArmed {
            timer.arm(after: isFailing ? Self.retryInterval : delay, accuracy: delay / 10)
        }
    }

    private func begin() {
        guard !isWriting else { return }
        timer.disarm()
        isWriting = true
        EventLoop.shared.begin { await self.write() }
    }

    private func write() async {
        let (file, entries) = (file, entries)
        self.entries = []
        bytes = 0
        let failure = await HelperThread.shared.failure(.events) { () throws(FileError) in
            try file.record(entries, at: WallClock.unixMilliseconds)
        }
        isWriting = false
        report(failure)
        if failure != nil || self.entries.isEmpty { finishing.end() }
        schedule()
    }

    /// Logs the first failure, and the recovery with the number of lost events. Events that are lost without a failure
    /// came faster than they were written, or are too long: their number is logged after a write without further losses.
    private func report(_ failure: FileError?) {
        let lost = file.lost + dropped
        switch (failure, isFailing) {
        case (let failure?, false): log.warning("cannot record events", [(.error, failure.reason)])
        case (nil, true):
            log.notice("events are recorded again", [(.count, "\(lost)")])
            logged = lost
        case (nil, false) where lost > logged && lost == lostBefore:
            log.warning("events were not recorded", [(.count, "\(lost - logged)")])
            logged = lost
        default: break
        }
        lostBefore = lost
        isFailing = failure != nil
    }
}

extension HelperThread.Concern {
    /// Reading and writing recorded events.
    fileprivate static let events = HelperThread.Concern("events")
}
