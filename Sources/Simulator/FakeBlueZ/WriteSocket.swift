import DBus
import EventLoop
import Glibc

/// Our end of the socket that AcquireWrite hands out: one packet for each value that the client writes.
@LoopActor
final class WriteSocket {
    /// Called with each value.
    var onValue: (([UInt8]) -> Void)?
    /// The client has closed its end.
    var onClosed: (() -> Void)?

    private let descriptor: CInt
    private var source: DescriptorSource?

    /// Makes a pair of sockets.
    ///
    /// - Returns: our end, and the client's, which must not be kept, or the end of the client would not be noticed.
    /// - Throws: ``SystemError`` when there are no descriptors.
    static func pair() throws(SystemError) -> (WriteSocket, clientEnd: DBusDescriptor) {
        var ends: [CInt] = [0, 0]
        let kind = CInt(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .last("make a pair of sockets") }
        let clientEnd = DBusDescriptor(owning: ends[1])
        return (try WriteSocket(owning: ends[0]), clientEnd)
    }

    private init(owning descriptor: CInt) throws(SystemError) {
        self.descriptor = descriptor
        source = try DescriptorSource(descriptor, for: .readable) { [unowned self] _ in serve() }
    }

    /// Reads one value per turn, as bluetoothd does. An empty packet reads as the end.
    private func serve() {
        let longestRead = 512
        var bytes = [UInt8](repeating: 0, count: longestRead)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else {
            if count < 0, errno == EAGAIN { return }
            source?.cancel()
            onClosed?()
            return
        }
        onValue?(Array(bytes.prefix(count)))
    }

    isolated deinit {
        source?.cancel()
        close(descriptor)
    }
}
