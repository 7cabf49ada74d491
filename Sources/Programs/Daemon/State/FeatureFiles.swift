import Bridge
import Configuration
import EventLoop
import Glibc
import JSON
import JacquardProtocol
import Text

/// The files of features. The helper thread reads and writes them.
@LoopActor
final class FeatureFiles {
    private static let concern = HelperThread.Concern("files")

    /// Performs an action, and reports its result on the loop.
    ///
    /// - Parameters:
    ///   - action: the action.
    ///   - file: the file.
    ///   - id: its tag.
    ///   - report: called with the result.
    func perform(
        _ action: FeatureFileAction, on file: FeatureFile, of id: TagID,
        report: @escaping @LoopActor (FeatureFileEvent) -> Void
    ) {
        let (path, now) = (FeatureFilePath(file, tag: id.text), WallClock.unixMilliseconds)
        EventLoop.shared.begin {
            let event = await HelperThread.shared.run(Self.concern) {
                do throws(FileError) {
                    return try path.perform(action, at: now)
                } catch {
                    return .failed("\(file.folder): \(error.reason)")
                }
            }
            if let event { report(event) }
        }
    }
}

/// The place of a file. Everything here may block: for the helper thread.
struct FeatureFilePath: Sendable {
    private let file: FeatureFile
    private let tagFolder: String
    private static let appending = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK

    /// - Parameters:
    ///   - file: the file.
    ///   - tag: the tag's ID, of which only letters, digits, `-` and `_` become part of a path.
    init(_ file: FeatureFile, tag: String) {
        self.file = file
        let name = tag.utf8.map { byte in
            ASCII.isOfWord(byte) ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16)
        }.joined()
        tagFolder = file.folder + "/" + name
    }

    /// The incomplete file.
    private var partial: String { "\(tagFolder)/\(file.name).part" }

    /// Performs an action.
    ///
    /// - Returns: what to report; nil for nothing.
    /// - Throws: ``FileError``.
    func perform(_ action: FeatureFileAction, at now: Int64) throws(FileError) -> FeatureFileEvent? {
        switch action {
        case .open: return try open()
        case .append(let bytes):
            // A file that is gone is not created again: its beginning would be missing.
            try AtomicFile.open(partial, Self.appending) { file throws(FileError) in
                try AtomicFile.write(bytes, to: file)
            }
            return .written(bytes.count)
        case .finish: return try finish(at: now)
        case .discard:
            unlink(partial)
            return nil
        }
    }

    private func open() throws(FileError) -> FeatureFileEvent {
        for path in [file.folder, tagFolder] {
            guard mkdir(path, 0o750) == 0 || errno == EEXIST else { throw FileError(errno) }
        }
        var (count, checksum) = (0, CRC16())
        do throws(FileError) {
            (count, checksum) = try measure(partial)
        } catch {
            guard error.isMissing else { throw error }
            try AtomicFile.open(partial, Self.appending | O_CREAT, mode: 0o640) { _ in }
        }
        let used = size
        guard used + file.byteCount - count <= file.limit.mebibytes << 20 else {
            return .failed("\(file.folder) has \(used >> 20) MiB; \(file.limit.key) does not allow the \(file.noun)")
        }
        return .opened(byteCount: count, checksum: checksum)
    }

    private func measure(_ path: String) throws(FileError) -> (count: Int, checksum: CRC16) {
        let bytes = try FileContents(path: path, limit: 64 << 20, followsLinks: false).bytes
        var checksum = CRC16()
        checksum.add(bytes)
        return (bytes.count, checksum)
    }

    /// The size of all files of all tags.
    private var size: Int {
        FolderEntries.names(in: file.folder).reduce(0) { sum, tag in
            FolderEntries.names(in: file.folder + "/" + tag).reduce(sum) { sum, name in
                var status = stat()
                return lstat("\(file.folder)/\(tag)/\(name)", &status) == 0 ? sum + Int(status.st_size) : sum
            }
        }
    }

    /// Checks what is on the disk, syncs the file, gives it its name, and writes a description beside it.
    private func finish(at now: Int64) throws(FileError) -> FeatureFileEvent {
        let (count, checksum) = try measure(partial)
        guard count == file.byteCount, checksum.value == file.crc else {
            unlink(partial)
            return .failed("\(partial) differs from the \(file.noun) of the tag, and was deleted")
        }
        try AtomicFile.open(partial, O_RDONLY | O_NOFOLLOW, AtomicFile.sync)
        let base = "\(tagFolder)/\(now / 1000)-\(String(file.crc, radix: 16))"
        var members = file.description.members ?? [:]
        members["time"] = .string(TimeText.utc(now))
        let document = JSONValue.object(members)
        try AtomicFile.write(Array(document.text.utf8) + [0x0A], to: base + ".json", mode: 0o640, isDurable: false)
        guard rename(partial, base + ".bin") == 0 else { throw FileError(errno) }
        return .finished(base + ".bin")
    }
}
