internal import CMicroHTTPD
internal import CSystemd
internal import Glibc

/// An error of the server: the address, the socket, or the TLS files.
public struct HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and what to do.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// A TCP socket that listens.
public struct ListeningSocket: Sendable {
    /// The descriptor. The server that gets it closes it.
    let descriptor: CInt
    /// The bound IP address.
    public let address: String
    /// The bound port; 0 if unknown.
    public let port: UInt16

    /// Returns the socket that the service manager has opened (socket activation, sd_listen_fds(3)), or nil without one.
    ///
    /// - Throws: ``HTTPServerError`` if there are several sockets, or one that does not listen for TCP.
    public static func passedByServiceManager() throws(HTTPServerError) -> ListeningSocket? {
        let count = sd_listen_fds(1)
        guard count > 0 else { return nil }
        // The first passed descriptor, SD_LISTEN_FDS_START.
        let first: CInt = 3
        guard count == 1, sd_is_socket(first, 0, CInt(SOCK_STREAM.rawValue), 1) > 0 else {
            throw HTTPServerError("the service manager passed \(count) sockets; one listening TCP socket is expected")
        }
        setNonBlocking(first)
        return ListeningSocket(first)
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
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(info.ai_family, type, 0)
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
    }

    private static func failure(_ action: String, _ address: String, _ port: UInt16) -> HTTPServerError {
        let reason = strerror(errno).map { String(cString: $0) } ?? "error \(errno)"
        return HTTPServerError("cannot \(action) on \(address) port \(port): \(reason)")
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

/// The text of a socket address without its port.
enum PeerAddress {
    static func text(_ address: UnsafePointer<sockaddr>?) -> String {
        guard let address else { return "" }
        let length =
            switch CInt(address.pointee.sa_family) {
            case AF_INET: MemoryLayout<sockaddr_in>.size
            case AF_INET6: MemoryLayout<sockaddr_in6>.size
            default: 0
            }
        guard length > 0 else { return "" }
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(
                address, socklen_t(length), &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST) == 0
        else { return "" }
        let text = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text.hasPrefix("::ffff:") ? String(text.dropFirst(7)) : text
    }
}
