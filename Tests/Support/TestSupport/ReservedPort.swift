import Glibc

/// A port of the loopback interface that is a test's own while this exists.
///
/// A socket is bound to it and does not listen, so that no other process gets the port and connections are refused. A
/// server that asks for `SO_REUSEADDR`, as mosquitto does, can listen there all the same, and so can ``listen()``.
public final class ReservedPort: Sendable {
    /// Its number.
    public let number: UInt16
    private let descriptor: CInt

    /// Reserves an unused port.
    ///
    /// - Throws: ``Overdue`` when there is none.
    public init() throws {
        descriptor = Loopback.socket()
        var yes: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
        guard Loopback.call(bind, descriptor, port: 0), let number = Loopback.port(of: descriptor) else {
            close(descriptor)
            throw Overdue(description: "no free port")
        }
        self.number = number
    }

    /// Listens on it.
    ///
    /// - Returns: the listening socket, which is the caller's to close.
    /// - Throws: ``Overdue`` when the port is in use.
    public func listen() throws -> CInt {
        guard Glibc.listen(descriptor, 8) == 0 else { throw Overdue(description: "port \(number) is taken") }
        return fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    }

    deinit {
        close(descriptor)
    }
}
