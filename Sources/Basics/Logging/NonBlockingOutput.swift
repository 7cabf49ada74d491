internal import Glibc
import Text

/// The lines that could not be written, and the rest of a line of which only a part was.
///
/// Lines are dropped while the destination accepts nothing. The next line that it accepts follows a note with their number.
struct LossyOutput {
    private var rest: [UInt8] = []
    private var dropped = 0

    /// Writes or drops a line.
    ///
    /// - Parameters:
    ///   - line: the line.
    ///   - note: returns the line that reports a number of dropped lines.
    ///   - send: writes as many of the bytes as the destination accepts at once, and returns their number.
    mutating func write(_ line: [UInt8], note: (Int) -> [UInt8], send: ([UInt8]) -> Int) {
        if !rest.isEmpty { rest.removeFirst(send(rest)) }
        if dropped > 0, offer(note(dropped), send) { dropped = 0 }
        if dropped > 0 || !offer(line, send) { dropped += 1 }
    }

    /// - Returns: whether the line is written, or will be with ``rest``.
    private mutating func offer(_ line: [UInt8], _ send: ([UInt8]) -> Int) -> Bool {
        guard rest.isEmpty else { return false }
        let count = send(line)
        guard count > 0 else { return false }
        rest.append(contentsOf: line.dropFirst(count))
        return true
    }
}

extension LogRecord {
    /// Reports lines that were dropped.
    static func dropped(_ count: Int) -> LogRecord {
        LogRecord(
            level: .warning, label: "log", message: "lines dropped, the output was not read",
            metadata: [(.count, "\(count)")])
    }
}

/// Writes to a descriptor without blocking, even if it is shared with programs that expect it to block.
///
/// `O_NONBLOCK` belongs to the open file, which the shell and other programs also use, and is not set on it. A pipe or a
/// terminal is opened once more instead.
final class NonBlockingDescriptor: Sendable {
    private enum Kind {
        /// A socket, for which each call can be made non-blocking.
        case socket
        /// A regular file, or a descriptor that does not block.
        case ready
        /// A pipe or a terminal that could not be opened once more, such as a pipe of another user.
        case polled
    }

    private let descriptor: CInt
    private let kind: Kind
    private let isOwn: Bool

    /// - Parameters:
    ///   - shared: the descriptor. The caller owns it.
    ///   - opensAgain: whether to open a pipe or a terminal once more.
    init(_ shared: CInt, opensAgain: Bool = true) {
        var status = stat()
        let format = fstat(shared, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
        let isStream = format == S_IFIFO || format == S_IFCHR
        let flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let own = isStream && opensAgain ? open("/proc/self/fd/\(shared)", flags) : -1
        isOwn = own >= 0
        descriptor = isOwn ? own : shared
        kind =
            switch format {
            case S_IFSOCK: .socket
            case S_IFIFO, S_IFCHR: isOwn ? .ready : .polled
            default: .ready
            }
    }

    deinit {
        if isOwn { close(descriptor) }
    }

    /// Writes as many bytes as possible.
    ///
    /// - Returns: their number. Zero after an error: there is no other place to report it.
    func write(_ bytes: [UInt8]) -> Int {
        bytes.withUnsafeBytes { bytes in
            switch kind {
            case .socket:
                max(
                    0,
                    send(
                        descriptor, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)
                    ))
            case .ready: max(0, Glibc.write(descriptor, bytes.baseAddress, bytes.count))
            case .polled: writeInPieces(bytes)
            }
        }
    }

    /// A pipe that is writable accepts at least `PIPE_BUF` bytes.
    private func writeInPieces(_ bytes: UnsafeRawBufferPointer) -> Int {
        var count = 0
        while count < bytes.count {
            var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&request, 1, 0) == 1, request.revents & Int16(POLLOUT) != 0 else { break }
            let piece = UnsafeRawBufferPointer(rebasing: bytes[count..<min(count + Int(PIPE_BUF), bytes.count)])
            let written = Glibc.write(descriptor, piece.baseAddress, piece.count)
            guard written > 0 else { break }
            count += written
        }
        return count
    }
}

/// Sends records to the journal as `sd_journal_send` does (systemd, "Native Journal Protocol"), without blocking.
final class JournalSocket: Sendable {
    private let descriptor: CInt
    private let path: String

    /// - Parameter path: the socket of the journal.
    init(path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // The kernel limits it to what the system allows. Many short records fit into it until the journal reads them.
        var size: CInt = 8 << 20
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Sends a record, each time to the path: the journal may have been restarted.
    ///
    /// - Returns: the number of bytes, or zero if the journal does not accept the record now.
    func send(_ bytes: [UInt8]) -> Int {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                max(
                    0,
                    sendto(
                        descriptor, bytes, bytes.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL), $0,
                        socklen_t(MemoryLayout<sockaddr_un>.size)))
            }
        }
    }
}
