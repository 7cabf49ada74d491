package import Glibc
internal import Synchronization

/// The resolver's answer about a broker's name, and the library's lookup of it.
package enum BrokerAddresses {
    /// The answer of the resolver.
    package enum Answer: Hashable, Sendable {
        /// The addresses, in the order in which they are tried, without repetition.
        case addresses([String])
        /// The resolver's error text.
        case failure(String)
    }

    /// The most addresses that are used of an answer.
    static let limit = 16

    /// The addresses of a host. Blocks.
    static func addresses(of host: String) -> Result<[String], MQTTError> {
        switch lookUp(host) {
        case .addresses(let addresses): .success(addresses)
        case .failure(let text): .failure(MQTTError(.nameNotResolved, "\(host): \(text)"))
        }
    }

    /// Calls the resolver. Blocks.
    package static func lookUp(_ host: String) -> Answer {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var head: UnsafeMutablePointer<addrinfo>?
        let status = SystemLookup.perform(host, nil, &hints, &head)
        guard status == 0 else { return .failure(String(cString: gai_strerror(status))) }
        // The caller owns the list; `freeaddrinfo` frees it.
        defer { freeaddrinfo(head) }
        var addresses: [String] = []
        for entry in sequence(first: head, next: { $0?.pointee.ai_next }).compactMap(\.self) {
            guard let text = text(of: entry.pointee), !addresses.contains(text) else { continue }
            if addresses.count < limit { addresses.append(text) }
        }
        return addresses.isEmpty ? .failure("no address") : .addresses(addresses)
    }

    private static func text(of entry: addrinfo) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = getnameinfo(
            entry.ai_addr, entry.ai_addrlen, &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST)
        guard status == 0 else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }
}

/// Answers the library's lookup of a name with one address.
///
/// With TLS, the library must have the broker's name: it checks the certificate against it, and sends it to the broker. But
/// it looks the name up itself and, without blocking, commits itself to the first address whose connection does not fail at
/// once (net_mosq.c, net__try_connect_tcp). No call of the library takes an address beside the name.
enum PinnedLookup {
    private struct Pin {
        let name: String
        let address: String
    }

    /// By thread: other threads, and other names, are looked up as usual.
    private static let pins = Mutex<[pthread_t: Pin]>([:])

    /// Performs a call of the library whose lookup of a name finds this address only.
    static func with<Value>(_ name: String, at address: String, _ body: () -> Value) -> Value {
        pins.withLock { $0[pthread_self()] = Pin(name: name, address: address) }
        defer { pins.withLock { $0[pthread_self()] = nil } }
        return body()
    }

    /// The address that replaces a name on the current thread; nil: none.
    static func address(of name: UnsafePointer<CChar>) -> String? {
        pins.withLock { pins in pins[pthread_self()].flatMap { strcmp($0.name, name) == 0 ? $0.address : nil } }
    }
}

/// The lookup of the C library, which ``lookUp(_:_:_:_:)`` hides.
private enum SystemLookup {
    typealias Function =
        @convention(c) (
            UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<addrinfo>?,
            UnsafeMutablePointer<UnsafeMutablePointer<addrinfo>?>?
        ) -> CInt

    static func perform(
        _ name: UnsafePointer<CChar>?, _ service: UnsafePointer<CChar>?, _ hints: UnsafePointer<addrinfo>?,
        _ answer: UnsafeMutablePointer<UnsafeMutablePointer<addrinfo>?>?
    ) -> CInt {
        function?(name, service, hints, answer) ?? EAI_FAIL
    }

    private static let function: Function? = {
        // -1 is RTLD_NEXT: whatever comes after this program.
        guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: -1), "getaddrinfo") else { return nil }
        return unsafeBitCast(symbol, to: Function.self)
    }()
}

/// Takes the place of the C library's function for the whole process, because the libraries look for a function in the
/// program first. `package`: what is internal to a module is not exported.
@_cdecl("getaddrinfo")
package func lookUp(
    _ name: UnsafePointer<CChar>?, _ service: UnsafePointer<CChar>?, _ hints: UnsafePointer<addrinfo>?,
    _ answer: UnsafeMutablePointer<UnsafeMutablePointer<addrinfo>?>?
) -> CInt {
    guard let name, let address = PinnedLookup.address(of: name) else {
        return SystemLookup.perform(name, service, hints, answer)
    }
    return SystemLookup.perform(address, service, hints, answer)
}
