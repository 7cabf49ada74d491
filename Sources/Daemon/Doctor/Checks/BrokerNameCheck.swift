import Glibc

/// Whether the broker's name has an address.
enum BrokerNameCheck {
    /// The addresses of a name.
    enum Answer: Hashable, Sendable {
        /// In the order in which they are tried.
        case addresses([String])
        /// The resolver's words.
        case failure(String)
    }

    /// Asks the resolver. Blocks.
    static func probe(_ host: String) -> Answer {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var head: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &head)
        guard status == 0 else { return .failure(String(cString: gai_strerror(status))) }
        // The list is ours; `freeaddrinfo` frees all of it.
        defer { freeaddrinfo(head) }
        let entries = sequence(first: head) { $0?.pointee.ai_next }.compactMap(\.self)
        return .addresses(entries.compactMap { text(of: $0.pointee) })
    }

    private static func text(of entry: addrinfo) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = getnameinfo(
            entry.ai_addr, entry.ai_addrlen, &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST)
        guard status == 0 else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Says which addresses there are.
    static func finding(_ host: String, _ answer: Answer) -> Finding {
        switch answer {
        case .addresses(let addresses):
            Finding(
                .brokerName, .ok,
                addresses == [host]
                    ? "\(host) is an address, no lookup needed"
                    : "\(host) has the address \(addresses.joined(separator: ", "))")
        case .failure(let reason):
            Finding(
                .brokerName, .failed, "\(host) has no address: \(reason)",
                remedies: ["getent hosts \(host)", "set mqtt.host to a name that resolves, or to an address"])
        }
    }
}
