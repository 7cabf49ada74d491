public import Glibc

/// Replaces files atomically: a reader sees the old contents or the new ones.
public enum AtomicFile {
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
    public static func write(
        _ bytes: [UInt8], to path: String, mode: mode_t, isDurable: Bool = true
    ) throws(FileError) {
        try checkReplaceable(path)
        let temporary = path + ".new"
        // Left by a process that was killed while writing.
        guard unlink(temporary) == 0 || errno == ENOENT else { throw FileError(errno) }
        do throws(FileError) {
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
            try open(temporary, flags, mode: mode) { descriptor throws(FileError) in
                guard fchmod(descriptor, mode) == 0 else { throw FileError(errno) }
                try write(bytes, to: descriptor)
                if isDurable { try sync(descriptor) }
            }
            guard rename(temporary, path) == 0 else { throw FileError(errno) }
        } catch {
            // On a full disk, the incomplete file would remain.
            unlink(temporary)
            throw error
        }
        guard isDurable else { return }
        // The rename is durable only after the folder is synced.
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        try open(folder, O_RDONLY | O_DIRECTORY, sync)
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

    /// Opens a file, and closes it after it was used, also if that fails.
    public static func open(
        _ path: String, _ flags: Int32, mode: mode_t = 0, _ use: (Int32) throws(FileError) -> Void
    ) throws(FileError) {
        let descriptor = Glibc.open(path, flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FileError(errno) }
        do throws(FileError) {
            try use(descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        // Network file systems may report a full disk only on close.
        guard close(descriptor) == 0 else { throw FileError(errno) }
    }

    /// Writes bytes to an open file, at its position.
    public static func write(_ bytes: [UInt8], to descriptor: Int32) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || count < 0 && errno == EINTR else { throw FileError(count == 0 ? EIO : errno) }
            rest = rest.dropFirst(max(0, count))
        }
    }

    /// Waits until an open file is on the disk.
    public static func sync(_ descriptor: Int32) throws(FileError) {
        guard fsync(descriptor) == 0 else { throw FileError(errno) }
    }
}
