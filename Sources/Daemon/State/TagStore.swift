import Bluetooth
import EventLoop
import Logging

/// The known tags, in memory and in their file. A change is on the disk soon, and the loop never waits for it.
@LoopActor
final class TagStore {
    /// All known tags, by id.
    private(set) var tags: [String: StoredTag] = [:]

    private let folder: StateFolder
    private let log: Logger
    /// What the file holds, or is about to.
    private var written: [String: StoredTag] = [:]
    private var isWriting = false
    /// A file that could not be read is not overwritten either.
    private var mayWrite = true
    private var hasFailed = false
    /// Who waits for the end of writing, and for how long.
    private var finishing: (continuation: CheckedContinuation<Void, Never>, timer: LoopTimer)?

    init(_ folder: StateFolder, log: Logger) {
        self.folder = folder
        self.log = log.with(.endpoint, folder.path)
    }

    /// Reads the file; whatever is wrong with it, the bridge goes on.
    func load() async {
        let folder = folder
        switch await HelperThread.shared.run({ folder.load() }) {
        case .tags(let found):
            tags = Dictionary(found.map { ($0.id, $0) }) { first, _ in first }
            written = tags
        case .damaged(let kept, let reason):
            log.error("the file of known tags is damaged and was set aside", [(.path, kept), (.error, reason)])
        case .unreadable(let reason):
            mayWrite = false
            log.error("cannot read the file of known tags, and will not write it", [(.error, reason)])
        }
    }

    /// Remembers a tag.
    func remember(_ tag: StoredTag) {
        tags[tag.id] = tag
        save()
    }

    /// A tag was paired by command: from now on it is known without being listed.
    func markPaired(_ id: String) {
        tags[id]?.paired = true
        save()
    }

    /// Forgets a tag.
    func forget(_ id: String) {
        tags[id] = nil
        save()
    }

    /// Waits until what it was told is on the disk, or the time is over: what the bridge has said to be so is so after a
    /// restart, too.
    func finish(within limit: Duration = .seconds(2)) async {
        guard isWriting, finishing == nil else { return }
        await withCheckedContinuation { continuation in
            let timer = LoopTimer { [unowned self] in endFinishing() }
            timer.arm(after: limit)
            finishing = (continuation, timer)
        }
    }

    private func endFinishing() {
        let waiting = finishing
        finishing = nil
        waiting?.timer.disarm()
        waiting?.continuation.resume()
    }

    /// Writes what has changed; changes that come meanwhile are written after it, together.
    private func save() {
        guard mayWrite, !isWriting, tags != written else { return }
        isWriting = true
        EventLoop.shared.begin { await self.write() }
    }

    private func write() async {
        let (folder, wanted) = (folder, tags)
        let failure = await HelperThread.shared.run { () -> FileError? in
            do throws(FileError) {
                try folder.save(Array(wanted.values))
                return nil
            } catch {
                return error
            }
        }
        isWriting = false
        written = wanted
        report(failure)
        save()
        if !isWriting { endFinishing() }
    }

    /// One line when it begins to fail and one when it works again.
    private func report(_ failure: FileError?) {
        switch (failure, hasFailed) {
        case (let failure?, false):
            log.error("cannot remember the known tags", [(.error, failure.reason)])
        case (nil, true): log.notice("the known tags are remembered again")
        default: break
        }
        hasFailed = failure != nil
    }
}
