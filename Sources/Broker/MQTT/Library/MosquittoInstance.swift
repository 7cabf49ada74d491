internal import CMosquitto
internal import EventLoop
internal import Glibc
internal import Synchronization

/// One `struct mosquitto`, for one attempt to connect and what comes of it. Owns the pointer and destroys it.
///
/// Nothing is called out of the library's callbacks: they hold its mutexes, which are not recursive. What they bring is
/// kept as ``BrokerLinkSignal``s until the call that caused them has returned.
@LoopActor
final class MosquittoInstance: BrokerLink {
    /// Touched by the loop's thread alone, but for the length of ``open(_:through:)``, when only the helper does.
    /// `nonisolated(unsafe)`: that call is made once, before the socket exists, and nothing here is called until it is back.
    nonisolated(unsafe) let pointer: OpaquePointer

    /// Messages of the library about errors while it connected; the helper may add to them.
    nonisolated let complaints = Mutex<[String]>([])
    /// Upper bound of ``complaints``: a broker can cause them.
    nonisolated static let mostComplaints = 16
    /// OpenSSL's result about the broker's certificate when the library complained, `X509_V_ERR_x`; negative if it is not known.
    nonisolated let certificate = Atomic(-1)
    private let host: String
    private nonisolated let isAbandoned = Atomic(false)

    private var signals: [BrokerLinkSignal] = []
    private var verdict: MQTTError?

    /// An instance that is ready to be opened.
    ///
    /// - Throws: ``MQTTError/Code/invalidConfiguration``.
    init(_ configuration: MQTTConfiguration, _ plan: BrokerLinkPlan) throws(MQTTError) {
        guard Self.isLibraryReady, !configuration.clientIdentifier.containsNUL,
            let pointer = mosquitto_new(configuration.clientIdentifier, plan.isCleanStart, nil)
        else {
            throw MQTTError(.invalidConfiguration, "the library does not take the client identifier")
        }
        self.pointer = pointer
        host = configuration.address.host
        try configure(configuration, plan)
        registerCallbacks()
    }

    /// Not thread-safe (mosquitto.h); a static property is made once.
    private static let isLibraryReady = mosquitto_lib_init() == MOSQ_ERR_SUCCESS.rawValue

    /// The socket; negative once the library has closed it.
    var descriptor: CInt { mosquitto_socket(pointer) }

    /// Whether something waits to be written.
    var wantsToWrite: Bool { mosquitto_want_write(pointer) }

    /// Why the connection has ended: what the broker said, if it said something, else what the library returned.
    func error(for status: CInt, errno: CInt) -> MQTTError {
        if let verdict { return verdict }
        let result = certificate.load(ordering: .relaxed)
        return MQTTError(
            library: status, errno: errno, complaints: complaints.withLock { $0 },
            certificate: result < 0 ? nil : result, host: host)
    }

    /// Hands over what the callbacks have brought since the last time.
    func takeSignals(_ body: @LoopActor (BrokerLinkSignal) -> Void) {
        guard !signals.isEmpty else { return }
        var taken: [BrokerLinkSignal] = []
        swap(&taken, &signals)
        for signal in taken { body(signal) }
        // Their memory serves again, unless more have come meanwhile.
        taken.removeAll(keepingCapacity: true)
        if signals.isEmpty { swap(&taken, &signals) }
    }

    func note(_ signal: BrokerLinkSignal) {
        signals.append(signal)
    }

    /// The first verdict stands: after a DISCONNECT with a reason the library reports an end without one.
    func note(end error: MQTTError) {
        if verdict == nil { verdict = error }
    }

    // MARK: Opening

    /// Reads the files for TLS, resolves the name and begins to connect, on the helper. The socket does not block: the loop
    /// waits for it.
    ///
    /// - Parameters:
    ///   - configuration: host, port and keep-alive.
    ///   - choice: which of the broker's addresses to use.
    /// - Returns: what has begun.
    /// - Throws: ``MQTTError/Code/nameNotResolved``, ``MQTTError/Code/tls``, ``MQTTError/Code/invalidConfiguration``.
    func open(
        _ configuration: MQTTConfiguration, through choice: AddressChoice
    ) async throws(MQTTError) -> BrokerLinkOpening {
        // Bounded: pieces that wait behind a blocked resolver or disk keep their instances in memory.
        let refusal = MQTTError(.nameNotResolved, "earlier lookups have not ended yet")
        let result = await HelperThread.shared.run(.broker, orIfFull: .failure(refusal)) { [self] in
            // The helper may have been busy until the connection was closed.
            guard !isAbandoned.load(ordering: .relaxed) else {
                return Result<BrokerLinkOpening, MQTTError>.failure(MQTTError(.stopped, "the attempt was cancelled"))
            }
            do throws(MQTTError) {
                if let tls = configuration.tls { try set(tls) }
            } catch {
                return .failure(error)
            }
            return Self.addresses(configuration, choice).map { begin(configuration, $0) }
        }
        return try result.get()
    }

    /// Watches the socket.
    func watch(
        _ handler: @escaping @LoopActor (DescriptorSource.Events) -> Void
    ) throws(SystemError) -> any BrokerSocket {
        try SocketWatch(descriptor, handler: handler)
    }

    /// Cancels an attempt that still waits for the helper.
    func abandon() {
        isAbandoned.store(true, ordering: .relaxed)
    }

    private nonisolated static func addresses(
        _ configuration: MQTTConfiguration, _ choice: AddressChoice
    ) -> Result<[String], MQTTError> {
        switch choice {
        case .address(let address): .success([address])
        case .lookup(let last):
            configuration.addresses(configuration.address.host).map { AddressRound.ordered($0, last: last) }
        }
    }

    private nonisolated func begin(_ configuration: MQTTConfiguration, _ addresses: [String]) -> BrokerLinkOpening {
        let host = configuration.address.host
        let address = addresses.first ?? host
        let status =
            configuration.tls == nil
            ? connect(to: address, configuration)
            : PinnedLookup.with(host, at: address) { connect(to: host, configuration) }
        return BrokerLinkOpening(status: status, number: errno, addresses: addresses)
    }

    private nonisolated func connect(to host: String, _ configuration: MQTTConfiguration) -> CInt {
        mosquitto_connect_bind_async(
            pointer, host, CInt(configuration.address.port), configuration.keepAliveSeconds, nil)
    }

    isolated deinit {
        mosquitto_destroy(pointer)
    }
}

extension HelperThread.Concern {
    /// Everything that has to be known before a connection to the broker can begin.
    fileprivate static let broker = HelperThread.Concern("broker")
}
