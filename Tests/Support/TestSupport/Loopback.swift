import Glibc

/// TCP on 127.0.0.1.
public enum Loopback {
    /// A socket that no program inherits: one that another test starts meanwhile would hold its connection open.
    public static func socket() -> CInt {
        Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    /// Connects a socket to a port, and returns whether a server listens there.
    public static func connect(_ descriptor: CInt, to port: UInt16) -> Bool {
        call(Glibc.connect, descriptor, port: port)
    }

    /// Whether a server listens on a port.
    static func isServed(_ port: UInt16) -> Bool {
        let descriptor = socket()
        defer { close(descriptor) }
        return connect(descriptor, to: port)
    }

    /// The port that a socket is bound to.
    static func port(of descriptor: CInt) -> UInt16? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return status == 0 ? UInt16(bigEndian: address.sin_port) : nil
    }

    /// Calls `bind` or `connect`, and says whether that went well.
    static func call(
        _ function: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt, _ descriptor: CInt, port: UInt16
    ) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
