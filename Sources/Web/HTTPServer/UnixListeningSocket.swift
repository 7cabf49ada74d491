internal import Glibc

extension ListeningSocket {
    /// Binds a Unix socket. Only this process's user may connect, and the members of `group`.
    ///
    /// A socket that an earlier process of this user has left behind is removed. Every other file at the path is an error.
    ///
    /// - Parameters:
    ///   - path: the path of the socket, at most 107 bytes.
    ///   - group: the name or number of the group that may connect, or nil.
    /// - Throws: ``HTTPServerError`` if the path is too long or in use, or the group does not exist.
    public init(path: String, group: String?) throws(HTTPServerError) {
        let owner = try group.map { name throws(HTTPServerError) in try Self.number(ofGroup: name) }
        var address = sockaddr_un()
        let space = MemoryLayout.size(ofValue: address.sun_path)
        // A zero byte ends the path.
        guard path.utf8.count < space else {
            throw HTTPServerError(
                "\(path) has \(path.utf8.count) bytes; the path of a Unix socket has at most \(space - 1)")
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        try Self.removeStale(path, address)
        let descriptor = try Self.unixSocket(path)
        var isBound = false
        do throws(HTTPServerError) {
            guard Self.call(address, { bind(descriptor, $0, $1) }) == 0 else { throw Self.failure("bind", path) }
            isBound = true
            // Nothing can connect before `listen`.
            if let owner, lchown(path, uid_t.max, owner) != 0 { throw Self.failure("set the group of", path) }
            guard chmod(path, owner == nil ? 0o600 : 0o660) == 0 else { throw Self.failure("set the mode of", path) }
            guard listen(descriptor, 16) == 0 else { throw Self.failure("listen on", path) }
        } catch {
            if isBound { unlink(path) }
            close(descriptor)
            throw error
        }
        self.init(descriptor: descriptor, path: path, file: FileIdentity(path))
    }

    /// Removes the file of a Unix socket that ``init(path:group:)`` has bound, unless another process has replaced it.
    public func removeFile() {
        guard let path, let file, FileIdentity(path) == file else { return }
        unlink(path)
    }

    /// Removes the socket of a process that has ended.
    private static func removeStale(_ path: String, _ address: sockaddr_un) throws(HTTPServerError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw failure("bind", path) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw HTTPServerError("\(path) exists and is not a socket; remove it, or set another path")
        }
        let descriptor = try unixSocket(path)
        let isRefused = call(address, { connect(descriptor, $0, $1) }) != 0 && errno == ECONNREFUSED
        close(descriptor)
        guard isRefused else {
            throw HTTPServerError("\(path) is in use by another process; end it, or set another path")
        }
        guard status.st_uid == geteuid() else {
            throw HTTPServerError("\(path) is a socket of another user; remove it, or set another path")
        }
        guard unlink(path) == 0 else { throw failure("remove the old", path) }
    }

    private static func unixSocket(_ path: String) throws(HTTPServerError) -> CInt {
        let descriptor = open(AF_UNIX)
        guard descriptor >= 0 else { throw failure("open a socket for", path) }
        return descriptor
    }

    private static func call(
        _ address: sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func number(ofGroup name: String) throws(HTTPServerError) -> gid_t {
        if let group = getgrnam(name) { return group.pointee.gr_gid }
        if let number = gid_t(name), number != gid_t.max { return number }
        throw HTTPServerError("there is no group \(name); set the name or number of an existing group")
    }

    private static func failure(_ action: String, _ path: String) -> HTTPServerError {
        let code = errno
        let reason = strerror(code).map { String(cString: $0) } ?? "error \(code)"
        let remedy =
            switch (code, action) {
            case (EPERM, "set the group of"): "; this user must be a member of the group"
            case (EACCES, _), (EROFS, _): "; this user must be able to write to its folder"
            case (ENOENT, _), (ENOTDIR, _): "; its folder must exist"
            default: ""
            }
        return HTTPServerError("cannot \(action) \(path): \(reason)\(remedy)")
    }
}

/// Identifies a file, also after it was replaced by another one with the same path.
struct FileIdentity: Hashable, Sendable {
    private let device: dev_t
    private let inode: ino_t
    private let changed: Int

    /// The file at a path, without following a link; nil without one.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        (device, inode, changed) = (status.st_dev, status.st_ino, status.st_mtim.tv_nsec)
    }
}
