import Bluetooth
import Bridge
import Configuration
import EventLoop
import JacquardProtocol
import Logging

/// The known tags, in memory and in their file. Changes are written by the helper thread and don't block the loop.
@LoopActor
final class TagStore {
    /// All known tags.
    private(set) var tags: [StoredTag.Key: StoredTag] = [:]

    private let folder: StateFolder
    private let log: Logger
    /// The contents of the file, including a write in progress.
    private var written: [StoredTag.Key: StoredTag] = [:]
    private var isWriting = false
    /// Whether a change during a write must not wait for the pause after it: a new bond, or the end of a tag.
    private var isUrgent = false
    /// A file that could not be read is not overwritten.
    private var mayWrite = true
    /// Whether ``tags`` are all that were ever remembered: false after a file that is damaged or cannot be read.
    private(set) var isComplete = true
    /// The damage of the file when it was read; nil if there was none.
    private(set) var damage: DamagedState?
    private let retryInterval: Duration
    private let pause: Duration
    /// Writes the changes that were made within the pause after a write.
    private lazy var next = LoopTimer { [unowned self] in save() }
    /// Whether there is a link that is not written, and whether ``next`` is armed for it.
    private var (isLinkNew, isLinkDue) = (false, false)
    /// The tags whose link has ended since it was written.
    private var endedLinks: Set<StoredTag.Key> = []
    private lazy var linkTimer = LoopTimer { [unowned self] in storeEndedLinks() }
    private lazy var retry = LoopTimer { [unowned self] in save() }
    private lazy var limit = LoopTimer { [unowned self] in report(.overdue) }
    /// Called when writing the file begins to fail, and when it works again.
    var onChange: (@LoopActor () -> Void)?
    /// Why the file cannot be written; nil while it can.
    private(set) var failure: UnwritableFile? {
        didSet { if failure != oldValue { onChange?() } }
    }
    /// The caller of ``finish(within:)``.
    private let finishing = FinishWaiter()

    /// - Parameters:
    ///   - folder: where the file is.
    ///   - log: where failures are logged.
    ///   - retryInterval: how long after a failure the file is written again, if nothing changes before.
    ///   - pause: how long after a write changes are collected before the next one. The file has all tags: while hundreds
    ///     of tags connect, writing it for each of them would take longer than connecting them.
    init(
        _ folder: StateFolder, log: Logger, retryInterval: Duration = .seconds(30), pause: Duration = .milliseconds(500)
    ) {
        self.folder = folder
        self.pause = pause
        self.retryInterval = retryInterval
        self.log = log.with(.endpoint, folder.path)
    }

    /// Reads the file. Errors are logged and don't stop the bridge.
    func load() async {
        let folder = folder
        switch await HelperThread.shared.run(.state, { folder.load() }) {
        case .tags(let found):
            tags = Dictionary(found.map { ($0.key, $0) }) { first, _ in first }
            written = tags
        case .partial(let found, let damage):
            (isComplete, self.damage) = (false, damage)
            tags = Dictionary(found.map { ($0.key, $0) }) { first, _ in first }
            report(damage)
            save()
        case .damaged(let kept, let reason):
            (isComplete, damage) = (false, DamagedState(keptAs: kept, records: []))
            log.error("the file of known tags is damaged and was set aside", [(.path, kept), (.error, reason)])
        case .unreadable(let reason, let isOfOtherRelease):
            (mayWrite, isComplete) = (false, false)
            failure = UnwritableFile(.state, folder.path, reason: reason, isOfOtherRelease: isOfOtherRelease)
            log.error("cannot read the file of known tags, and will not write it", [(.error, reason)])
        }
    }

    /// Upper bound on log lines about damaged records.
    private static let maxReports = 8

    private func report(_ damage: DamagedState) {
        for record in damage.records.prefix(Self.maxReports) {
            log.error("a known tag's record is damaged", [(.tag, record.name), (.error, record.reason)])
        }
        log.error(
            "the file of known tags has damaged records; the others are used, and the file was copied",
            [(.path, damage.keptAs), (.count, String(damage.records.count))])
    }

    // MARK: Links

    /// How long after a write a new link is written, at most: the process that follows a killed one replaces an unknown link.
    private static let linkPause = Duration.milliseconds(100)
    /// How long the end of a link stays unwritten. Most tags are connected again within it.
    private static let linkPatience = Duration.seconds(30)

    /// Returns the addresses of the links that an earlier process may have left. Only those that are reported again stay.
    func takeLinks() -> Set<String> {
        let linked = tags.values.filter { $0.link != nil }
        endedLinks = Set(linked.map(\.key))
        if !endedLinks.isEmpty { linkTimer.arm(after: Self.linkPatience) }
        return Set(linked.compactMap(\.link))
    }

    /// Stores that there is a link with a tag. The caller has an entry of it.
    func linkBegan(_ key: StoredTag.Key, at address: String) {
        endedLinks.remove(key)
        guard tags[key]?.link != address else { return }
        var tag = tags[key] ?? StoredTag(serial: key.serial, id: key.id, held: false, paired: false)
        tag.link = address
        isLinkNew = true
        remember(tag)
        if next.isArmed, !isLinkDue {
            isLinkDue = true
            next.arm(after: Self.linkPause)
        }
    }

    /// Returns the tags with a link that an earlier process may have left, and with gear.
    func linkedWithGear() -> Set<StoredTag.Key> {
        Set(tags.values.filter { $0.link != nil && $0.attached == true }.map(\.key))
    }

    /// Stores whether gear is attached to a tag. The caller has an entry of it.
    func gearChanged(_ key: StoredTag.Key, isAttached: Bool) {
        guard tags[key] != nil, (tags[key]?.attached ?? false) != isAttached else { return }
        tags[key]?.attached = isAttached ? true : nil
        if !next.isArmed { save() }
    }

    /// Stores that the next process is to replace a link if it exists then.
    func linkIsNotToBeUsed(_ key: StoredTag.Key) {
        guard tags[key]?.link != nil else { return }
        tags[key]?.link = nil
        isUrgent = true
        save()
    }

    /// Stores later that a link has ended.
    func linkEnded(_ key: StoredTag.Key) {
        guard tags[key]?.link != nil, endedLinks.insert(key).inserted, !linkTimer.isArmed else { return }
        linkTimer.arm(after: Self.linkPatience)
    }

    /// Stores that there are no links but these.
    func keepLinks(_ addresses: Set<String>) {
        linkTimer.disarm()
        for (key, tag) in tags where tag.link.map({ !addresses.contains($0) }) ?? false { tags[key]?.link = nil }
        save()
    }

    private func storeEndedLinks() {
        for key in endedLinks { tags[key]?.link = nil }
        endedLinks = []
        if !next.isArmed { save() }
    }

    // MARK: Tags

    /// Stores a tag. Of another tag with its id, only one that was paired by command is kept: it has the id again when the
    /// configuration does not give it to this one.
    func remember(_ tag: StoredTag) {
        var tag = tag
        tag.link = tag.link ?? tags[tag.key]?.link
        tag.attached = tags[tag.key]?.attached
        if tags.updateValue(tag, forKey: tag.key) == nil {
            tags = tags.filter { $0.key.id != tag.id || $0.key == tag.key || $0.value.paired }
        }
        if !next.isArmed { save() }
    }

    /// Marks a tag as paired by command: it is known without being listed.
    func markPaired(_ key: StoredTag.Key) {
        tags[key]?.paired = true
        isUrgent = true
        save()
    }

    /// Removes a tag, and what is stored of it under other ids from before the configuration changed its id.
    func forget(_ key: StoredTag.Key) {
        let forgotten = tags[key]
        tags = tags.filter { other, tag in
            // Under the new id, it may not have been connected yet.
            other.serial != key.serial || !(forgotten.map(tag.isOfSameTag) ?? (other.id.text == other.serial))
        }
        isUrgent = true
        save()
    }

    /// Waits until all changes are written, or until the timeout: what the bridge has published must survive a restart.
    func finish(within limit: Duration = .seconds(2)) async {
        if next.isArmed { save() }
        guard isWriting else { return }
        await finishing.wait(atMost: limit)
    }

    /// Writes the changes. Changes during a write are written together after it.
    private func save() {
        guard mayWrite, !isWriting else { return }
        retry.disarm()
        next.disarm()
        // A change that could not be saved may have been reverted, so the file is correct again.
        guard tags != written else { return report(nil) }
        (isWriting, isUrgent, isLinkNew, isLinkDue) = (true, false, false, false)
        limit.arm(after: FileError.patience)
        EventLoop.shared.begin { await self.write() }
    }

    private func write() async {
        let (folder, wanted) = (folder, tags)
        let error = await HelperThread.shared.failure(.state) { () throws(FileError) in
            try folder.save(Array(wanted.values))
        }
        isWriting = false
        limit.disarm()
        report(error)
        guard error == nil else {
            // Changes during the write are written immediately: shutdown must not wait for the retry.
            if tags == wanted { retry.arm(after: retryInterval) } else { save() }
            return endFinishingUnlessWriting()
        }
        written = wanted
        if finishing.isWaiting || isUrgent { save() } else { next.arm(after: isLinkNew ? Self.linkPause : pause) }
        isLinkDue = isLinkNew
        endFinishingUnlessWriting()
    }

    private func endFinishingUnlessWriting() {
        if !isWriting { finishing.end() }
    }

    /// Logs the first failure, and the recovery.
    private func report(_ error: FileError?) {
        switch (error, failure) {
        case (let error?, nil): log.error("cannot save the known tags", [(.error, error.reason)])
        case (nil, _?): log.notice("known tags are saved again")
        default: break
        }
        failure = error.map { UnwritableFile(.state, folder.path, reason: $0.reason) }
    }
}

extension HelperThread.Concern {
    /// Reading and writing the known tags.
    static let state = HelperThread.Concern("state")
}
