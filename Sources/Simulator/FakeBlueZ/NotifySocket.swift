import DBus
import EventLoop
import Glibc

/// Our end of the socket that AcquireNotify hands out: one packet for each notification.
@LoopActor
final class NotifySocket {
    /// The client has closed its end.
    var onClosed: (() -> Void)?
    /// There is room again after ``NotifyOutcome/full``.
    var onRoom: (() -> Void)?

    private var clientEnd: DBusDescriptor?
    private let descriptor: CInt
    private var source: DescriptorSource?

    /// Makes a pair of sockets.
    ///
    /// - Throws: ``SystemError`` when there are no descriptors.
    init() throws(SystemError) {
        var ends: [CInt] = [0, 0]
        let kind = CInt(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .last("make a pair of sockets") }
        descriptor = ends[0]
        clientEnd = DBusDescriptor(owning: ends[1])
        source = try DescriptorSource(descriptor, for: .readable) { [unowned self] events in serve(events) }
    }

    /// The client's end, to be passed to the client once. The simulator must not keep it, or it would not notice when
    /// the client closes it.
    func takeClientEnd() -> DBusDescriptor? {
        defer { clientEnd = nil }
        return clientEnd
    }

    func send(_ value: [UInt8]) -> NotifyOutcome {
        // An empty packet would read as the end.
        guard !value.isEmpty else { return .delivered }
        guard Glibc.send(descriptor, value, value.count, CInt(MSG_NOSIGNAL)) < 0 else { return .delivered }
        guard errno == EAGAIN else { return .nobody }
        source?.events = [.readable, .writable]
        return .full
    }

    private func serve(_ events: DescriptorSource.Events) {
        if !events.isDisjoint(with: [.hangUp, .error]) {
            source?.cancel()
            onClosed?()
        } else if events.contains(.readable) {
            // What a client sends here goes nowhere; it is read so that the loop does not spin.
            var byte: UInt8 = 0
            _ = recv(descriptor, &byte, 1, 0)
        } else if events.contains(.writable) {
            source?.events = .readable
            onRoom?()
        }
    }

    isolated deinit {
        source?.cancel()
        close(descriptor)
    }
}
