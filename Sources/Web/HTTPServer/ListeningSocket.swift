internal import CMicroHTTPD
internal import CSystemd
internal import Glibc

/// An error of the server: the address, the socket, or the TLS files.
public struct HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error and its remedy.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// A TCP or Unix socket that listens.
public struct ListeningSocket: Sendable {
    /// The descriptor. The server that gets it closes it.
    let descriptor: CInt
    /// The bound IP address; empty for a Unix socket.
    public let address: String
    /// The bound port; 0 if unknown, and for a Unix socket.
    public let port: UInt16
    /// The path of a Unix socket; nil for TCP.
    public let path: String?
    /// The file of a Unix socket that this process has bound.
    let file: FileIdentity?

    /// Returns the sockets that the service manager has opened (socket activation, sd_listen_fds(3)): one for TCP, and a Unix socket.
    /// Each is nil if there is none.
    ///
    /// - Throws: ``HTTPServerError`` if there are several of a kind, or others.
    public static func passedByServiceManager() throws(HTTPServerError) -> (
        tcp: ListeningSocket?, unix: ListeningSocket?
    ) {
        let count = sd_listen_fds(1)
        guard count > 0 else { return (nil, nil) }
        // The first passed descriptor, SD_LISTEN_FDS_START.
        let descriptors = 3..<(3 + count)
        let sockets = descriptors.filter { sd_is_socket($0, 0, CInt(SOCK_STREAM.rawValue), 1) > 0 }
        let unix = sockets.filter { sd_is_socket($0, AF_UNIX, 0, -1) > 0 }
        let tcp = sockets.filter { !unix.contains($0) }
        guard sockets.count == descriptors.count, tcp.count <= 1, unix.count <= 1 else {
            throw HTTPServerError(
                "the service manager passed \(count) sockets; a listening TCP socket and a listening Unix socket are expected"
            )
        }
        sockets.forEach(setNonBlocking)
        return (
            tcp.first.map { ListeningSocket($0) },
            unix.first.map { ListeningSocket(descriptor: $0, path: path(of: $0), file: nil) }
        )
    }

    /// Binds a socket.
    ///
    /// - Parameters:
    ///   - address: an IPv4 or IPv6 address.
    ///   - port: the port; 0 chooses a free one.
    /// - Throws: ``HTTPServerError`` if the address is invalid or in use.
    public init(address: String, port: UInt16) throws(HTTPServerError) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, String(port), &hints, &list) == 0, let info = list?.pointee else {
            throw HTTPServerError("\(address) is not an IP address")
        }
        defer { freeaddrinfo(list) }
        let descriptor = Self.open(info.ai_family)
        guard descriptor >= 0 else { throw Self.failure("open a socket", address, port) }
        var yes: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
        guard bind(descriptor, info.ai_addr, info.ai_addrlen) == 0, listen(descriptor, 64) == 0 else {
            let error = Self.failure("listen", address, port)
            close(descriptor)
            throw error
        }
        self.init(descriptor)
    }

    private init(_ descriptor: CInt) {
        self.descriptor = descriptor
        (address, port) = Self.name(of: descriptor)
        (path, file) = (nil, nil)
    }

    init(descriptor: CInt, path: String, file: FileIdentity?) {
        self.descriptor = descriptor
        (address, port) = ("", 0)
        (self.path, self.file) = (path, file)
    }

    private static func failure(_ action: String, _ address: String, _ port: UInt16) -> HTTPServerError {
        let reason = strerror(errno).map { String(cString: $0) } ?? "error \(errno)"
        return HTTPServerError("cannot \(action) on \(address) port \(port): \(reason)")
    }

    /// Opens a stream socket that does not block and that no other program inherits; -1 with `errno` if that fails.
    static func open(_ family: CInt) -> CInt {
        socket(family, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    }

    private static func setNonBlocking(_ descriptor: CInt) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    private static func name(of descriptor: CInt) -> (address: String, port: UInt16) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            let isKnown = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length) == 0
            }
            guard isKnown else { return ("", 0) }
            let address = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { PeerAddress.text($0) }
            // The port is at the same place in `sockaddr_in` and `sockaddr_in6`.
            return (
                address,
                pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
            )
        }
    }
}

extension ListeningSocket {
    /// The path that a Unix socket is bound to; empty if it has none in the file system.
    private static func path(of descriptor: CInt) -> String {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        guard isKnown else { return "" }
        return withUnsafeBytes(of: address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
