import EventLoop
import Glibc
import Time

/// A TCP connection to a host: name resolution on the helper thread, the addresses one after another, then bytes.
@LoopActor
final class ProxySocket {
    enum Event {
        case connected
        case received([UInt8])
        /// The connection could not be made, or has ended. Nothing follows.
        case ended(ProxyError)
    }

    /// Timeout of the name resolution, and of each address.
    static let limit = Duration.seconds(10)
    /// The most bytes that wait until the proxy can receive them.
    static let mostUnsent = 256 * 1024

    private let host: String
    private let port: UInt16
    private let onEvent: @LoopActor (Event) -> Void
    private var descriptor: CInt = -1
    private var source: DescriptorSource?
    private var isConnected = false
    private var isOver = false
    private var unsent: [UInt8] = []
    private var candidates: ArraySlice<SocketAddress> = []
    private lazy var timer = LoopTimer { [unowned self] in timeReached() }

    /// - Parameters:
    ///   - host: a name or an address.
    ///   - port: the port.
    ///   - onEvent: called with each event.
    init(host: String, port: UInt16, onEvent: @escaping @LoopActor (Event) -> Void) {
        self.host = host
        self.port = port
        self.onEvent = onEvent
    }

    /// Starts to connect.
    func open() {
        timer.arm(after: Self.limit)
        let (host, port) = (host, port)
        EventLoop.shared.begin { [weak self] in
            // A concern for each host: one name that is not resolved does not delay the others.
            let result = await HelperThread.shared.run(
                HelperThread.Concern("esphome " + host),
                orIfFull: .failure(.network("earlier lookups have not ended yet"))
            ) { SocketAddress.addresses(of: host, port) }
            self?.resolved(result)
        }
    }

    /// Sends bytes, now or as soon as the proxy can receive them.
    func send(_ bytes: [UInt8]) {
        guard isConnected, !isOver, !bytes.isEmpty else { return }
        guard unsent.isEmpty else {
            guard unsent.count + bytes.count <= Self.mostUnsent else { return end(.silent) }
            return unsent.append(contentsOf: bytes)
        }
        let count = write(bytes)
        if count < bytes.count, !isOver {
            unsent = Array(bytes.dropFirst(count))
            source?.events = [.readable, .writable]
        }
    }

    /// Closes the connection. No event follows.
    func close() {
        isOver = true
        timer.disarm()
        closeDescriptor()
    }

    // MARK: Connecting

    private func resolved(_ result: Result<[SocketAddress], ProxyError>) {
        guard !isOver else { return }
        switch result {
        case .success(let addresses):
            candidates = addresses[...]
            connectNext(.network("\(host) has no address"))
        case .failure(let error): end(error)
        }
    }

    private func connectNext(_ error: ProxyError) {
        guard let address = candidates.popFirst() else { return end(error) }
        timer.arm(after: Self.limit)
        closeDescriptor()
        descriptor = socket(
            address.family, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0, address.connect(descriptor) || errno == EINPROGRESS else {
            return connectNext(.network(SystemError.last("connect to \(host) port \(port)").description))
        }
        do throws(SystemError) {
            source = try DescriptorSource(descriptor, for: [.writable]) { [weak self] _ in self?.connectEnded() }
        } catch {
            connectNext(.network(error.description))
        }
    }

    private func connectEnded() {
        let number = option(SO_ERROR)
        guard number == 0 else {
            let error = SystemError(number: number, action: "connect to \(host) port \(port)")
            return connectNext(.network(error.description))
        }
        timer.disarm()
        candidates = []
        // A gesture must not wait for the acknowledgment of the one before.
        set(IPPROTO_TCP, TCP_NODELAY, 1)
        // Otherwise the kernel repeats unacknowledged bytes for a quarter of an hour.
        set(IPPROTO_TCP, TCP_USER_TIMEOUT, 10_000)
        source?.cancel()
        do throws(SystemError) {
            source = try DescriptorSource(descriptor, for: [.readable]) { [weak self] in self?.isReady($0) }
        } catch {
            return end(.network(error.description))
        }
        isConnected = true
        onEvent(.connected)
    }

    private func timeReached() {
        let error = ProxyError.network("no connection to \(host) port \(port) in time")
        if source == nil { end(error) } else { connectNext(error) }
    }

    // MARK: Bytes

    private func isReady(_ events: DescriptorSource.Events) {
        if events.contains(.writable) { flush() }
        guard !isOver, !events.isDisjoint(with: [.readable, .hangUp, .error]) else { return }
        // Bounded, so that a busy proxy does not keep the loop from its other work.
        for _ in 0..<4 {
            let bytes = [UInt8](unsafeUninitializedCapacity: 16 * 1024) { buffer, count in
                let result = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                lastError = result < 0 ? errno : 0
                count = max(0, result)
            }
            guard bytes.isEmpty else {
                let isAll = bytes.count < 16 * 1024
                onEvent(.received(bytes))
                if isAll || isOver { return }
                continue
            }
            if lastError == EAGAIN || lastError == EINTR { return }
            guard lastError != 0 else { return end(.closed) }
            return end(.network(SystemError(number: lastError, action: "receive").description))
        }
    }

    private var lastError: CInt = 0

    private func flush() {
        let count = write(unsent)
        unsent.removeFirst(min(count, unsent.count))
        if unsent.isEmpty, !isOver { source?.events = [.readable] }
    }

    /// Writes as much as possible, and returns how much.
    private func write(_ bytes: [UInt8]) -> Int {
        let count = Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        if count >= 0 { return count }
        if errno != EAGAIN, errno != EINTR { end(.network(SystemError.last("send").description)) }
        return 0
    }

    private func end(_ error: ProxyError) {
        guard !isOver else { return }
        close()
        onEvent(.ended(error))
    }

    private func closeDescriptor() {
        source?.cancel()
        source = nil
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    private func set(_ level: Int, _ name: CInt, _ value: CInt) {
        var value = value
        setsockopt(descriptor, CInt(level), name, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    private func option(_ name: CInt) -> CInt {
        var value: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : errno
    }

    isolated deinit {
        close()
    }
}

/// An address of a host with a port.
struct SocketAddress: Hashable, Sendable {
    let family: CInt
    private let bytes: [UInt8]

    /// Resolves a name. Blocks: call it on the helper thread.
    static func addresses(of host: String, _ port: UInt16) -> Result<[SocketAddress], ProxyError> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var head: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &head)
        guard status == 0 else { return .failure(.network("\(host): " + String(cString: gai_strerror(status)))) }
        defer { freeaddrinfo(head) }
        let entries = sequence(first: head, next: { $0?.pointee.ai_next }).compactMap { $0?.pointee }
        return .success(
            entries.prefix(8).compactMap { entry in
                entry.ai_addr.map {
                    SocketAddress(
                        family: entry.ai_family,
                        bytes: Array(UnsafeRawBufferPointer(start: $0, count: Int(entry.ai_addrlen))))
                }
            })
    }

    /// Connects a socket. The status is in `errno` if it fails.
    func connect(_ descriptor: CInt) -> Bool {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes.prefix($0.count)) }
        return withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(bytes.count)) == 0
            }
        }
    }
}
