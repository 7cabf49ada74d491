internal import Glibc

/// IPv4 or IPv6.
enum AddressFamily: Sendable {
    case ipv4
    case ipv6

    /// The address to bind to that admits every interface of the family.
    var anyAddress: String { self == .ipv4 ? "0.0.0.0" : "::" }

    /// The families of a host's addresses, in the resolver's order, without repetition. Blocks.
    static func families(of host: String) -> Result<[AddressFamily], MQTTError> {
        var hints = addrinfo()
        // As libmosquitto asks, so that it gets the same answer.
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var head: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &head)
        guard status == 0 else {
            return .failure(MQTTError(.nameNotResolved, "\(host): " + String(cString: gai_strerror(status))))
        }
        defer { freeaddrinfo(head) }
        var families: [AddressFamily] = []
        for entry in sequence(first: head, next: { $0?.pointee.ai_next }).compactMap({ $0 }) {
            let family: AddressFamily = entry.pointee.ai_family == AF_INET6 ? .ipv6 : .ipv4
            if !families.contains(family) { families.append(family) }
        }
        return .success(families)
    }
}
