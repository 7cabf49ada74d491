import Bridge
import Configuration
import EventLoop
import Glibc
import JSON
import JacquardProtocol
import Text

/// The files of downloaded sessions. The helper thread reads and writes them.
@LoopActor
final class MotionFiles {
    private static let concern = HelperThread.Concern("motion")

    /// Performs an action, and reports its result on the loop.
    ///
    /// - Parameters:
    ///   - action: the action.
    ///   - id: the tag.
    ///   - settings: the folder and its limit.
    ///   - report: called with the result.
    func perform(
        _ action: MotionFileAction, of id: TagID, _ settings: MotionOptions,
        report: @escaping @LoopActor (MotionFileEvent) -> Void
    ) {
        guard let folder = settings.folder else { return report(.failed("imu.folder is no longer set")) }
        let file = MotionFilePath(folder: folder, tag: id.text)
        let (most, now) = (settings.most << 20, WallClock.unixMilliseconds)
        EventLoop.shared.begin {
            let event = await HelperThread.shared.run(Self.concern) {
                do throws(FileError) {
                    return try file.perform(action, most: most, at: now)
                } catch {
                    return .failed("\(folder): \(error.reason)")
                }
            }
            if let event { report(event) }
        }
    }
}

/// The folder of a tag's sessions. Everything here may block: for the helper thread.
struct MotionFilePath: Sendable {
    /// `imu.folder`.
    let folder: String
    private let tagFolder: String
    private static let appending = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK

    /// - Parameters:
    ///   - folder: `imu.folder`.
    ///   - tag: the tag's ID, of which only letters, digits, `-` and `_` become part of a path.
    init(folder: String, tag: String) {
        self.folder = folder
        let name = tag.utf8.map { byte in
            ASCII.isOfWord(byte) ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16)
        }.joined()
        tagFolder = folder + "/" + name
    }

    /// The names of sessions are untrusted: no part of them is in a path.
    private func partial(_ session: StoredMotionSession) -> String {
        let name = CRC16.of(session.id.session.utf8)
        return "\(tagFolder)/\(String(session.crc, radix: 16))-\(session.byteCount)-\(String(name, radix: 16)).part"
    }

    /// Performs an action.
    ///
    /// - Returns: what to report; nil for nothing.
    /// - Throws: ``FileError``.
    func perform(
        _ action: MotionFileAction, most: Int, at now: Int64
    ) throws(FileError) -> MotionFileEvent? {
        switch action {
        case .open(let session): return try open(session, most: most)
        case .append(let bytes, let session):
            // A file that is gone is not created again: its beginning would be missing.
            try AtomicFile.open(partial(session), Self.appending) { file throws(FileError) in
                try AtomicFile.write(bytes, to: file)
            }
            return .written(bytes.count)
        case .finish(let session): return try finish(session, at: now)
        case .discard(let session):
            unlink(partial(session))
            return nil
        }
    }

    private func open(_ session: StoredMotionSession, most: Int) throws(FileError) -> MotionFileEvent {
        for path in [folder, tagFolder] {
            guard mkdir(path, 0o750) == 0 || errno == EEXIST else { throw FileError(errno) }
        }
        var (count, checksum) = (0, CRC16())
        do throws(FileError) {
            (count, checksum) = try measure(partial(session))
        } catch {
            guard error.isMissing else { throw error }
            try AtomicFile.open(partial(session), Self.appending | O_CREAT, mode: 0o640) { _ in }
        }
        let used = size
        guard used + Int(session.byteCount) - count <= most else {
            return .failed("\(folder) has \(used >> 20) MiB; imu.most_mb does not allow the session")
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
        FolderEntries.names(in: folder).reduce(0) { sum, tag in
            FolderEntries.names(in: folder + "/" + tag).reduce(sum) { sum, name in
                var status = stat()
                return lstat("\(folder)/\(tag)/\(name)", &status) == 0 ? sum + Int(status.st_size) : sum
            }
        }
    }

    /// Checks what is on the disk, syncs the file, gives it its name, and writes a description beside it.
    private func finish(_ session: StoredMotionSession, at now: Int64) throws(FileError) -> MotionFileEvent {
        let path = partial(session)
        let (count, checksum) = try measure(path)
        guard count == Int(session.byteCount), checksum.value == session.crc else {
            unlink(path)
            return .failed("\(path) differs from the session of the tag, and was deleted")
        }
        try AtomicFile.open(path, O_RDONLY | O_NOFOLLOW, AtomicFile.sync)
        let base = "\(tagFolder)/\(now / 1000)-\(String(session.crc, radix: 16))"
        let document: JSONValue = [
            "session": .string(session.id.session), "group": .string(session.id.group),
            "campaign": .string(session.id.campaign), "product": .string(session.id.product),
            "subject": .string(session.id.subject), "bytes": .integer(Int64(session.byteCount)),
            "crc": .string(String(session.crc, radix: 16)), "time": .string(TimeText.utc(now)),
        ]
        try AtomicFile.write(Array(document.text.utf8) + [0x0A], to: base + ".json", mode: 0o640, isDurable: false)
        guard rename(path, base + ".bin") == 0 else { throw FileError(errno) }
        return .finished(base + ".bin")
    }
}
