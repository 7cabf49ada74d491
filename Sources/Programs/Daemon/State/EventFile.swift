import Bridge
import Configuration
import Glibc
import Synchronization

/// The file of recorded events, with the table of its tags beside it. Everything here may block: for the helper thread.
final class EventFile: Sendable {
    private static let fileName = "events.ring"
    private static let tagsFileName = "events.tags.json"

    private let folder: StateFolder
    private let base: String
    private let hours: Int
    private let history: Mutex<EventHistory>

    /// Its path.
    let path: String
    private let tagsPath: String

    /// The contents of the folder.
    struct Findings: Hashable, Sendable {
        /// Files that are damaged or of another format, by the names under which they were set aside.
        var setAside: [String] = []
        /// The number of damaged blocks among intact ones.
        var damagedBlocks = 0
    }

    /// - Parameters:
    ///   - folder: where the files are.
    ///   - base: the base topic of the bridge.
    ///   - hours: how long events are kept.
    init(_ folder: StateFolder, base: String, hours: Int) {
        self.folder = folder
        self.base = base
        self.hours = hours
        path = folder.path + "/" + Self.fileName
        tagsPath = folder.path + "/" + Self.tagsFileName
        history = Mutex(EventHistory(base: base, hours: hours))
    }

    /// Number of events that were not recorded.
    var lost: Int { history.withLock { $0.lost } }

    /// The longest time that a block of the file spans.
    var blockSpan: Duration { history.withLock { $0.blockSpan } }

    /// Reads both files. Damaged ones are set aside.
    ///
    /// - Throws: ``FileError`` if one exists and cannot be read or set aside.
    func load() throws(FileError) -> Findings {
        var findings = Findings()
        var blocks: [EventBlock] = []
        if let bytes = try bytes(of: path, limit: EventBlock.fileSize, &findings) {
            let found = EventBlocks(bytes)
            if found.blocks.isEmpty, found.damaged > 0 {
                findings.setAside.append(try folder.moveAside(path).get())
            } else {
                blocks = found.blocks
                findings.damagedBlocks = found.damaged
            }
        }
        var tags = RecordedTags()
        if let bytes = try bytes(of: tagsPath, limit: RecordedTags.fileSizeLimit, &findings) {
            if let found = RecordedTags(parsing: bytes) {
                tags = found
            } else {
                findings.setAside.append(try folder.moveAside(tagsPath).get())
            }
        }
        let loaded = EventHistory(base: base, hours: hours, blocks: blocks, tags: tags)
        history.withLock { $0 = loaded }
        return findings
    }

    /// The contents of a file; nil if there is none. A file that is too large is set aside.
    private func bytes(of path: String, limit: Int, _ findings: inout Findings) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            return try FileContents(path: path, limit: limit, followsLinks: false).bytes
        } catch  where error.isMissing {
            return nil
        } catch {
            guard error.code == EFBIG else { throw error }
            findings.setAside.append(try folder.moveAside(path).get())
            return nil
        }
    }

    /// Records entries and writes the changes.
    ///
    /// - Throws: ``FileError``. What could not be written is written with the next entries.
    func record(_ entries: [EventHistory.Entry], at now: Int64) throws(FileError) {
        try history.withLock { history throws(FileError) in
            history.add(entries, at: now)
            let changes = history.changes
            guard !changes.isEmpty else { return }
            try folder.create()
            // First, so that a name in the file of events is never given to another tag.
            if let tags = changes.tags {
                try AtomicFile.write(tags.bytes, to: tagsPath, mode: 0o600)
            }
            try write(changes)
            history.written()
        }
    }

    private func write(_ changes: EventHistory.Changes) throws(FileError) {
        guard !changes.blocks.isEmpty || !changes.erased.isEmpty else { return }
        let (flags, mode) = (O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode_t(0o600))
        try AtomicFile.open(path, flags, mode: mode) { descriptor throws(FileError) in
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw FileError(errno) }
            guard status.st_mode & S_IFMT == S_IFREG else { throw FileError(notRegular: status.st_mode) }
            guard fchmod(descriptor, mode) == 0 else { throw FileError(errno) }
            for block in changes.blocks { try Self.write(block.bytes, to: descriptor, at: block.offset) }
            let empty = [UInt8](repeating: 0, count: EventBlock.size)
            for offset in changes.erased { try Self.write(empty, to: descriptor, at: offset) }
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, at offset: Int) throws(FileError) {
        guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else { throw FileError(errno) }
        try AtomicFile.write(bytes, to: descriptor)
    }
}
