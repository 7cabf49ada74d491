import Glibc

/// A small file that was read as a whole.
struct FileContents: Hashable, Sendable {
    /// Everything in it.
    let bytes: [UInt8]
    /// Whether users beside owner and group may read it.
    let isReadableByOthers: Bool

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: absolute or from the working directory.
    ///   - limit: the greatest length that is read, in bytes.
    /// - Throws: `FileError`.
    init(path: String, limit: Int) throws(FileError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError(errno) }
        isReadableByOthers = status.st_mode & S_IROTH != 0
        bytes = try Self.read(descriptor, limit: limit)
    }

    private static func read(_ descriptor: Int32, limit: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += buffer.prefix(count)
                guard bytes.count <= limit else { throw FileError(EFBIG) }
            } else if errno != EINTR {
                throw FileError(errno)
            }
        }
    }
}

/// Why a file could not be read: an error number of the kernel.
struct FileError: Error, Hashable {
    /// Such as `ENOENT`.
    let code: Int32

    /// Wraps the error number.
    init(_ code: Int32) {
        self.code = code
    }

    /// Whether there is no such file.
    var isMissing: Bool { code == ENOENT || code == ENOTDIR }

    /// The C library's words, such as `No such file or directory`.
    var reason: String { String(cString: strerror(code)) }
}
