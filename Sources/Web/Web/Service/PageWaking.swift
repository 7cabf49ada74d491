import Glibc

/// Starts a page that systemd starts with its first connection.
enum PageWaking {
    /// How long the page may take to start, in seconds.
    private static let patience = 10

    /// Sends a request, and waits for the answer or the end of the connection. A page that answers has stored its address.
    ///
    /// - Parameters:
    ///   - address: the IP address of the page.
    ///   - port: its port.
    /// - Returns: whether something accepts connections there.
    static func wake(address: String, port: UInt16) -> Bool {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, String(port), &hints, &list) == 0, let info = list?.pointee else { return false }
        defer { freeaddrinfo(list) }
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(info.ai_family, type, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        guard connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 else { return false }
        var request = "GET /session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        let flags = CInt(MSG_NOSIGNAL)
        _ = request.withUTF8 { send(descriptor, $0.baseAddress, $0.count, flags) }
        var byte: UInt8 = 0
        _ = recv(descriptor, &byte, 1, 0)
        return true
    }
}
