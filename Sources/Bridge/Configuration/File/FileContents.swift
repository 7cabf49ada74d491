public import Glibc

/// A small regular file that was read as a whole.
public struct FileContents: Hashable, Sendable {
    /// Everything in it.
    public let bytes: [UInt8]
    /// Whether users beside owner and group may read it.
    let isReadableByOthers: Bool

    /// Reads a file. A FIFO, a device or a folder is refused, and opening one does not block.
    ///
    /// - Parameters:
    ///   - path: absolute or from the working directory.
    ///   - limit: the greatest length that is read, in bytes.
    ///   - followsLinks: whether the path may be a symbolic link to a file.
    /// - Throws: `FileError`.
    public init(path: String, limit: Int, followsLinks: Bool = true) throws(FileError) {
        let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = open(path, flags)
        guard descriptor >= 0 else {
            throw !followsLinks && errno == ELOOP ? FileError(notRegular: S_IFLNK) : FileError(errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileError(notRegular: status.st_mode) }
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

/// Why a file could not be read or written: an error number of the kernel.
public struct FileError: Error, Hashable {
    /// Such as `ENOENT`.
    public let code: Int32
    /// The reason, such as `No such file or directory`.
    public let reason: String

    /// Wraps the error number, with the words of the C library.
    public init(_ code: Int32) {
        self.code = code
        reason = String(cString: strerror(code))
    }

    private init(_ code: Int32, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// A path that names something else than a regular file.
    ///
    /// - Parameter mode: `st_mode` of what is there.
    public init(notRegular mode: mode_t) {
        let kind =
            switch mode & S_IFMT {
            case S_IFLNK: "a symbolic link"
            case S_IFIFO: "a FIFO"
            case S_IFDIR: "a folder"
            case S_IFSOCK: "a socket"
            default: "a device"
            }
        code = mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL
        reason = "it is \(kind), not a regular file"
    }

    /// A disk or a file server that has not answered.
    public static let overdue = FileError(ETIMEDOUT, "the disk has not answered for \(patience.components.seconds) s")
    /// How long a disk may take for a small file.
    public static let patience = Duration.seconds(10)

    /// Whether there is no such file.
    public var isMissing: Bool { code == ENOENT || code == ENOTDIR }

    /// Whether this user may not open it.
    var isForbidden: Bool { code == EACCES || code == EPERM }
}

extension FileError {
    /// The reason, and for a file that this user may not read what to do about it.
    ///
    /// - Parameter path: the file.
    /// - Returns: such as `Permission denied; use sudo, or join the group jacquard2mqtt: ...`.
    public func reason(for path: String) -> String {
        guard isForbidden else { return reason }
        guard let group = FileError.group(of: path), group != "root" else { return "\(reason); use sudo" }
        return "\(reason); use sudo, or join the group \(group): sudo adduser \"$USER\" \(group), then log in again"
    }

    /// The group of the file, or of the innermost folder on the way to it that this user can see.
    private static func group(of path: String) -> String? {
        var path = path
        var status = stat()
        while stat(path, &status) != 0 {
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return nil }
            path = String(path[..<slash])
        }
        // libc's own memory, valid until the next call.
        return getgrgid(status.st_gid).map { String(cString: $0.pointee.gr_name) }
    }
}

/// The entries of a folder.
public enum FolderEntries {
    /// The names in no order, without `.` and `..`; none where the folder cannot be read.
    public static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
