import Glibc

/// Addresses as texts.
enum IPAddress {
    /// Returns the usual form of an IPv4 or IPv6 address; nil for anything else.
    static func canonical(_ text: String) -> String? {
        for family in [AF_INET, AF_INET6] {
            var bytes = [UInt8](repeating: 0, count: MemoryLayout<in6_addr>.size)
            guard inet_pton(family, text, &bytes) == 1 else { continue }
            var characters = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            guard inet_ntop(family, bytes, &characters, socklen_t(characters.count)) != nil else { continue }
            return characters.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        }
        return nil
    }
}
