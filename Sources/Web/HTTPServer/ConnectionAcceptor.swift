import EventLoop
internal import Glibc

/// Accepts the connections of a Unix socket.
///
/// libmicrohttpd 0.9 gives `accept` a buffer for Internet addresses only, and then copies as many bytes as the address of the peer has.
@LoopActor
final class ConnectionAcceptor {
    private let descriptor: CInt
    private let accepted: @LoopActor (CInt) -> Void
    private var source: DescriptorSource?
    private lazy var pause = LoopTimer { [unowned self] in source?.events = .readable }

    /// How long to wait after a lack of descriptors or memory.
    private static let pauseTime = Duration.seconds(1)

    /// Whether accepting pauses after a lack of descriptors or memory.
    var isPaused: Bool { pause.isArmed }

    /// Starts accepting; `accepted` gets the descriptor of each connection, and closes it.
    init(_ descriptor: CInt, accepted: @escaping @LoopActor (CInt) -> Void) throws(SystemError) {
        self.descriptor = descriptor
        self.accepted = accepted
        source = try DescriptorSource(descriptor, for: .readable) { [unowned self] _ in accept() }
    }

    private func accept() {
        let connection = Glibc.accept(descriptor, nil, nil)
        if connection >= 0 {
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            return accepted(connection)
        }
        switch errno {
        case EAGAIN, EINTR, ECONNABORTED: break
        default:
            source?.events = []
            pause.arm(after: Self.pauseTime)
        }
    }

    /// Stops accepting, and closes the socket.
    func stop() {
        source?.cancel()
        source = nil
        pause.disarm()
        close(descriptor)
    }
}
