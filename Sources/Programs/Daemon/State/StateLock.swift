import Configuration
import Glibc

/// Reserves a state folder for one bridge: two with the same folder would take the tags away from each other.
///
/// The lock is that of an open file description (fcntl(2), `F_OFD_SETLK`) on the file `lock`. The kernel gives it back when the
/// process ends, however it ends, and programs that the bridge starts don't inherit it. The file stays, with the process id of
/// the last holder.
final class StateLock: Sendable {
    /// The result of an attempt to lock the folder.
    enum Outcome {
        /// The folder is reserved as long as the lock exists.
        case held(StateLock)
        /// Another process holds the lock; nil if its id is not in the file.
        case inUse(process: Int32?)
        /// The file cannot be written, so the folder cannot be reserved.
        case unavailable(FileError)
    }

    private static let fileName = "lock"
    /// `F_OFD_SETLK` of `<fcntl.h>`, which the module Glibc lacks; the number is the same on all architectures.
    private static let setLock: Int32 = 37
    private let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Reserves a folder, which is created if it is missing. Does not wait for another process.
    static func take(in folder: StateFolder) -> Outcome {
        do throws(FileError) {
            try folder.create()
            return take(try open(folder.path + "/" + fileName))
        } catch {
            return .unavailable(error)
        }
    }

    private static func open(_ path: String) throws(FileError) -> StateLock {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else { throw errno == ELOOP ? FileError(notRegular: S_IFLNK) : FileError(errno) }
        let lock = StateLock(descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileError(notRegular: status.st_mode) }
        return lock
    }

    private static func take(_ lock: StateLock) -> Outcome {
        var region = flock()
        region.l_type = Int16(F_WRLCK)
        region.l_whence = Int16(SEEK_SET)
        guard fcntl(lock.descriptor, setLock, &region) == 0 else {
            guard errno == EAGAIN || errno == EACCES else { return .unavailable(FileError(errno)) }
            return .inUse(process: lock.holder)
        }
        lock.writeHolder()
        return .held(lock)
    }

    private var holder: Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }
        return Int32(String(decoding: digits, as: UTF8.self))
    }

    /// If the disk is full, the file stays empty, and the other process cannot report this one's id.
    private func writeHolder() {
        let line = Array("\(getpid())\n".utf8)
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, line, line.count, 0) }
    }

    deinit {
        close(descriptor)
    }
}
