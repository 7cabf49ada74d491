import Glibc

/// A file that readers see as a whole: the old one or the new one.
enum AtomicFile {
    /// Writes a file beside the old one and puts it in its place. Blocks: for the helper thread.
    ///
    /// - Parameters:
    ///   - bytes: all of it.
    ///   - path: its name; the folder has to be there.
    ///   - mode: who may read it, whatever the process's mask takes away from new files.
    ///   - isDurable: whether file and name are on the disk when this returns.
    /// - Throws: ``FileError``; the old file is then as it was.
    static func write(_ bytes: [UInt8], to path: String, mode: mode_t, isDurable: Bool) throws(FileError) {
        let temporary = path + ".new"
        try write(bytes, to: temporary, mode, isDurable)
        guard rename(temporary, path) == 0 else { throw FileError(errno) }
        guard isDurable else { return }
        // The name is on the disk only when its folder is.
        try sync(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".")
    }

    private static func write(
        _ bytes: [UInt8], to path: String, _ mode: mode_t, _ isDurable: Bool
    ) throws(FileError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FileError(errno) }
        defer { close(descriptor) }
        guard fchmod(descriptor, mode) == 0 else { throw FileError(errno) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw FileError(errno) }
            rest = rest.dropFirst(count)
        }
        guard !isDurable || fsync(descriptor) == 0 else { throw FileError(errno) }
    }

    private static func sync(_ folder: String) throws(FileError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileError(errno) }
    }
}
