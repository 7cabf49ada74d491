import Bridge
import Configuration
import EventLoop
import JacquardProtocol
import Logging

/// The histories of the tags' batteries, in memory and in their file.
///
/// The file is written rarely, to spare the memory card: an hour after a change, and at the stop. A crash loses at most
/// the points of that hour.
@LoopActor
final class BatteryStore {
    private var batteries: [TagID: (serial: String, history: BatteryHistory)] = [:]

    private let folder: StateFolder
    private let log: Logger
    private let interval: Duration
    /// A file that could not be read is not overwritten.
    private var mayWrite = true
    private var isChanged = false
    /// Whether the change is written without delay.
    private var isUrgent = false
    private var isWriting = false
    private var isFailing = false
    private lazy var timer = LoopTimer { [unowned self] in begin() }
    /// The caller of ``finish(within:)``.
    private let finishing = FinishWaiter()

    /// - Parameters:
    ///   - folder: where the file is.
    ///   - log: where failures are logged.
    ///   - interval: how long after a change the file is written.
    init(_ folder: StateFolder, log: Logger, interval: Duration = .seconds(3_600)) {
        self.folder = folder
        self.log = log.with(.endpoint, folder.path)
        self.interval = interval
    }

    /// Reads the file. Errors are logged and don't stop the bridge.
    ///
    /// - Parameter tags: the known tags; histories of others are dropped. nil if the tags could not be read.
    func load(for tags: Set<StoredTag.Key>?) async {
        let folder = folder
        switch await HelperThread.shared.run(.state, { folder.loadBatteries() }) {
        case .batteries(let found): adopt(found, of: tags)
        case .partial(let found, let kept, let damaged):
            adopt(found, of: tags)
            log.error(
                "battery histories are damaged; the others are used, and the file was copied",
                [(.path, kept), (.count, String(damaged))])
            changed(isUrgent: true)
        case .damaged(let kept):
            log.error("the file of battery histories is damaged and was set aside", [(.path, kept)])
        case .unreadable(let reason):
            mayWrite = false
            log.error("cannot read the file of battery histories, and will not write it", [(.error, reason)])
        }
    }

    private func adopt(_ found: [StoredBattery], of tags: Set<StoredTag.Key>?) {
        for battery in found where tags?.contains(battery.key) ?? true {
            batteries[battery.id] = (battery.serial, battery.history)
        }
    }

    /// Adds the history to the record of a tag.
    func complete(_ record: TagRecord) -> TagRecord {
        var record = record
        if let battery = batteries[record.id], battery.serial == record.serial { record.history = battery.history }
        return record
    }

    /// Stores the history of a tag.
    func remember(_ record: TagRecord) {
        let known = batteries[record.id]
        guard known?.serial != record.serial || known?.history != record.history else { return }
        guard known != nil || !record.history.isEmpty else { return }
        batteries[record.id] = (record.serial, record.history)
        changed(isUrgent: false)
    }

    /// Removes the history of a tag, from the file without delay.
    func forget(_ entry: TagEntry) {
        // A reload may have given its id to another tag.
        guard batteries[entry.id]?.serial == entry.serial else { return }
        batteries[entry.id] = nil
        changed(isUrgent: true)
    }

    /// Waits until all changes are written, or until the timeout.
    func finish(within limit: Duration = .seconds(2)) async {
        guard isChanged || isWriting else { return }
        await finishing.wait(atMost: limit) { begin() }
    }

    private func changed(isUrgent: Bool) {
        guard mayWrite else { return }
        isChanged = true
        self.isUrgent = self.isUrgent || isUrgent
        schedule()
    }

    /// Schedules the next write. Changes during a write are scheduled at its end.
    private func schedule() {
        guard isChanged, !isWriting else { return }
        if isUrgent || finishing.isWaiting {
            timer.arm(after: .zero)
        } else if !timer.isArmed {
            timer.arm(after: interval, accuracy: interval / 60)
        }
    }

    private func begin() {
        guard isChanged, !isWriting else { return }
        timer.disarm()
        (isChanged, isUrgent, isWriting) = (false, false, true)
        EventLoop.shared.begin { await self.write() }
    }

    private func write() async {
        let folder = folder
        let stored = batteries.map { StoredBattery($0.key, serial: $0.value.serial, $0.value.history) }
        let failure = await HelperThread.shared.failure(.state) { () throws(FileError) in
            try folder.saveBatteries(stored)
        }
        isWriting = false
        report(failure)
        if failure != nil {
            finishing.end()
            isChanged = true
        } else if !isChanged {
            finishing.end()
        }
        schedule()
    }

    /// Logs the first failure, and the recovery.
    private func report(_ failure: FileError?) {
        switch (failure, isFailing) {
        case (let failure?, false): log.warning("cannot save the battery histories", [(.error, failure.reason)])
        case (nil, true): log.notice("battery histories are saved again")
        default: break
        }
        isFailing = failure != nil
    }
}
