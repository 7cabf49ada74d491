// The members of sockaddr belong to whichever of the two modules the compiler loads first.
internal import CMicroHTTPD
internal import Glibc

/// The address of a peer.
public enum PeerAddress {
    /// The text of a socket address without its port.
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
        let text = text(buffer)
        return text.hasPrefix("::ffff:") ? String(text.dropFirst(7)) : text
    }

    /// The usual form of an IPv4 or IPv6 address; nil for any other text.
    public static func canonical(_ text: String) -> String? {
        for family in [AF_INET, AF_INET6] {
            var address = in6_addr()
            guard inet_pton(family, text, &address) == 1 else { continue }
            var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            guard inet_ntop(family, &address, &buffer, socklen_t(buffer.count)) != nil else { continue }
            return Self.text(buffer)
        }
        return nil
    }

    /// The network whose addresses one host can have: the first 64 bits of an IPv6 address, such as `2001:db8:0:1::/64`. Of an IPv4
    /// address, also in IPv6 form, it is the address itself, and any other text is returned unchanged.
    public static func network(of text: String) -> String {
        // The zone of a link-local address names the interface.
        let zone = text.drop { $0 != "%" }
        var address = in6_addr()
        guard inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &address) == 1 else { return text }
        let bytes = withUnsafeBytes(of: address) { Array($0) }
        if bytes.starts(with: Array(repeating: 0, count: 10) + [0xFF, 0xFF]) {
            return bytes.suffix(4).map(String.init).joined(separator: ".")
        }
        withUnsafeMutableBytes(of: &address) { bytes in
            for index in 8..<16 { bytes[index] = 0 }
        }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil else { return text }
        return Self.text(buffer) + "/64" + zone
    }

    /// Whether an address belongs to this host or to a private network: a loopback, private, link-local or unique local address.
    /// Sources: RFC 1122, 1918, 3927, 4193 and 4291.
    public static func isPrivate(_ text: String) -> Bool {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            switch withUnsafeBytes(of: four, { ($0[0], $0[1]) }) {
            case (127, _), (10, _), (172, 16...31), (192, 168), (169, 254): return true
            default: return false
            }
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &six) == 1 else { return false }
        let bytes = withUnsafeBytes(of: six) { Array($0) }
        return bytes[0] & 0xFE == 0xFC || bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
            || bytes == Array(repeating: 0, count: 15) + [1]
    }

    private static func text(_ buffer: [CChar]) -> String {
        String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
