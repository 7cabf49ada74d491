internal import EventLoop
internal import Glibc

/// Watches the library's socket through a descriptor of its own.
///
/// The library closes its socket whenever it likes, in the middle of a call, and does not mark it close-on-exec. A socket
/// that a child process has inherited stays in epoll then, without a descriptor by which it could be taken out, and its
/// next event would find a source that is gone. The watch's own descriptor is open for as long as the watch.
@LoopActor
final class SocketWatch: BrokerSocket {
    private let descriptor: CInt
    private let source: DescriptorSource

    /// Begins to wait until there is room to write, which is when TCP has come about.
    init(_ socket: CInt, handler: @escaping @LoopActor (DescriptorSource.Events) -> Void) throws(SystemError) {
        // A child that kept the connection open would keep the broker from publishing the will.
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .last("duplicate the broker's socket") }
        do throws(SystemError) {
            source = try DescriptorSource(copy, for: .writable, handler: handler)
        } catch {
            close(copy)
            throw error
        }
        descriptor = copy
    }

    /// The events that the socket waits for.
    var events: DescriptorSource.Events {
        get { source.events }
        set { source.events = newValue }
    }

    /// The failure of the connection, as `errno`, 0 for none. Asking takes it away.
    func takeFailure() -> CInt {
        var number: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &length)
        return number == 0 ? takenFailure : number
    }

    /// The failure that OpenSSL has taken from the socket before. A connection that has measured a round trip was established.
    private var takenFailure: CInt {
        var info = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        let status = getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_INFO, &info, &length)
        guard status == 0, info.tcpi_state == UInt8(TCP_CLOSE) else { return 0 }
        return info.tcpi_rtt == 0 ? ECONNREFUSED : ECONNRESET
    }

    isolated deinit {
        // First the source, then what it watches.
        source.cancel()
        close(descriptor)
    }
}
