import Configuration
import Glibc

/// Replaces files atomically: a reader sees the old contents or the new ones.
enum AtomicFile {
    /// Writes a file beside the old one and puts it in its place. Blocks: for the helper thread.
    ///
    /// The folder may belong to others, too: nothing is ever opened that was there before, so a link or a FIFO that lies in
    /// wait under one of the two names is not followed and does not block.
    ///
    /// - Parameters:
    ///   - bytes: all of it.
    ///   - path: its name; the folder has to be there. What is there already has to be a regular file.
    ///   - mode: who may read it, whatever the process's mask takes away from new files.
    ///   - isDurable: whether file and name are on the disk when this returns.
    /// - Throws: ``FileError``; the old file is then as it was, and nothing is left beside it.
    static func write(_ bytes: [UInt8], to path: String, mode: mode_t, isDurable: Bool) throws(FileError) {
        try checkReplaceable(path)
        let temporary = path + ".new"
        // Left by a process that was killed while writing.
        guard unlink(temporary) == 0 || errno == ENOENT else { throw FileError(errno) }
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(errno) }
        do throws(FileError) {
            try fill(descriptor, bytes, mode, isDurable)
            guard rename(temporary, path) == 0 else { throw FileError(errno) }
        } catch {
            // On a full disk, the incomplete file would remain.
            unlink(temporary)
            throw error
        }
        guard isDurable else { return }
        // The rename is durable only after the folder is synced.
        try sync(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".")
    }

    /// Refuses to replace a link, a FIFO or a device, which the user is unlikely to want.
    private static func checkReplaceable(_ path: String) throws(FileError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw FileError(errno) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileError(notRegular: status.st_mode) }
    }

    /// Writes a new file and closes it.
    private static func fill(
        _ descriptor: Int32, _ bytes: [UInt8], _ mode: mode_t, _ isDurable: Bool
    ) throws(FileError) {
        do throws(FileError) {
            guard fchmod(descriptor, mode) == 0 else { throw FileError(errno) }
            try write(bytes, to: descriptor)
            guard !isDurable || fsync(descriptor) == 0 else { throw FileError(errno) }
        } catch {
            close(descriptor)
            throw error
        }
        // Network file systems may report a full disk only on close.
        guard close(descriptor) == 0 else { throw FileError(errno) }
    }

    /// Writes bytes to an open file, at its position.
    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || count < 0 && errno == EINTR else { throw FileError(count == 0 ? EIO : errno) }
            rest = rest.dropFirst(max(0, count))
        }
    }

    private static func sync(_ folder: String) throws(FileError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileError(errno) }
    }
}
