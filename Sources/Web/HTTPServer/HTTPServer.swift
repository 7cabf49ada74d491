internal import CMicroHTTPD
public import EventLoop
internal import Glibc
public import Logging
import Time

/// The configuration of a server.
public struct HTTPServerConfiguration: Sendable {
    /// The bounds on peers.
    public var limits = HTTPLimits()
    /// The key and the certificates of TLS as PEM texts; nil: plain HTTP.
    public var tls: (key: String, certificate: String)?
    /// Whether many users may connect from an address, such as a reverse proxy. Its connections are not limited.
    public var isSharedAddress: @Sendable (String) -> Bool = { _ in false }

    /// A server with the default limits and without TLS.
    public init() {}
}

/// An HTTP server on the event loop, made of libmicrohttpd without threads.
///
/// libmicrohttpd's epoll descriptor is a source of the loop; `MHD_run` is called when it is readable or a timeout of the library has
/// expired. All callbacks run on the loop's thread.
@LoopActor
public final class HTTPServer {
    /// Handles a request. The reply may be sent later.
    public typealias Handler = @LoopActor (HTTPRequest, HTTPReply) -> Void

    let limits: HTTPLimits
    let handler: Handler
    let log: Logger
    var table: ConnectionTable
    private var daemon: OpaquePointer?
    private var source: DescriptorSource?
    /// Of a Unix socket.
    private var acceptor: ConnectionAcceptor?
    private lazy var timer = LoopTimer { [unowned self] in run() }
    private lazy var deadlines = LoopTimer { [unowned self] in endOverdue() }
    private lazy var again = EndOfTurnSource { [unowned self] in run() }
    private var exchanges: [ObjectIdentifier: Exchange] = [:]
    /// Called when a connection has ended, after which its memory is unused.
    public var onConnectionEnd: (@LoopActor () -> Void)?

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - socket: the listening socket; the server closes it.
    ///   - configuration: limits and encryption.
    ///   - log: the logger.
    ///   - handler: called with each complete request.
    /// - Throws: ``HTTPServerError`` if the library does not start, for instance because of the certificate.
    public init(
        _ socket: ListeningSocket, _ configuration: HTTPServerConfiguration, log: Logger, handler: @escaping Handler
    ) throws(HTTPServerError) {
        limits = configuration.limits
        self.log = log
        self.handler = handler
        table = ConnectionTable(limits: configuration.limits, isShared: configuration.isSharedAddress)
        // Half of the library's memory holds the headers, the rest the buffer for writing. Above 32 KiB the library maps it for each
        // connection instead of taking it from the heap, so that a closed connection leaves nothing behind.
        let memory = configuration.limits.headerBytes * 4 + 1
        // The library frees neither text before it has copied it into GnuTLS, in the call.
        daemon = microhttpd_start(
            socket.path == nil ? socket.descriptor : -1, acceptsConnection, handleRequest, requestCompleted,
            connectionChanged, requestBegan,
            Unmanaged.passUnretained(self).toOpaque(), memory, UInt32(configuration.limits.connections),
            UInt32(configuration.limits.requestTime.components.seconds), configuration.tls?.key,
            configuration.tls?.certificate)
        guard let daemon else {
            close(socket.descriptor)
            throw HTTPServerError(
                configuration.tls == nil
                    ? "libmicrohttpd does not start"
                    : "libmicrohttpd does not start; check that the certificate and the key belong together")
        }
        do throws(SystemError) {
            source = try DescriptorSource(microhttpd_epoll(daemon), for: .readable) { [unowned self] _ in run() }
            if socket.path != nil {
                acceptor = try ConnectionAcceptor(socket.descriptor) { [unowned self] in add($0) }
            }
        } catch {
            // `deinit` follows.
            self.daemon = nil
            MHD_stop_daemon(daemon)
            if socket.path != nil { close(socket.descriptor) }
            throw HTTPServerError(error.description)
        }
        run()
    }

    /// Returns whether the library accepts a key and certificates as PEM texts. No socket is opened.
    public nonisolated static func accepts(key: String, certificate: String) -> Bool {
        // Without connections, no callback is called.
        let daemon = microhttpd_start(
            -1, acceptsConnection, handleRequest, requestCompleted, connectionChanged, requestBegan, nil, 1 << 15, 1, 1,
            key,
            certificate)
        guard let daemon else { return false }
        MHD_stop_daemon(daemon)
        return true
    }

    /// The number of connections.
    public var connectionCount: Int { table.count }

    /// Whether connections and requests are accepted. The library runs once more when the server stops.
    private(set) var isServing = true

    /// Ends all connections and closes the socket. The handler is not called again.
    public func stop() {
        guard let daemon else { return }
        isServing = false
        // The library must not be stopped with suspended connections.
        for exchange in exchanges.values { exchange.abandon() }
        MHD_run(daemon)
        acceptor?.stop()
        acceptor = nil
        source?.cancel()
        source = nil
        timer.disarm()
        deadlines.disarm()
        self.daemon = nil
        MHD_stop_daemon(daemon)
        exchanges = [:]
    }

    isolated deinit {
        stop()
    }

    private func add(_ connection: CInt) {
        guard let daemon else { return }
        microhttpd_add(daemon, connection)
        runSoon()
    }

    /// Lets the library work, at the end of this turn.
    func runSoon() {
        again.request()
    }

    private func run() {
        guard let daemon else { return }
        let count = table.count
        MHD_run(daemon)
        table.ran()
        if table.isCrowded {
            let unused = table.takeUnused()
            end(unused)
            if table.isCrowded || !unused.isEmpty { again.request() }
        }
        // At its limit the library does not listen. Only the next run after the end of a connection makes it listen again.
        if table.count < count { again.request() }
        var wait: CUnsignedLongLong = 0
        if MHD_get_timeout(daemon, &wait) == .YES {
            if wait == 0 {
                again.request()
            } else {
                timer.arm(after: .milliseconds(Int64(clamping: wait)), accuracy: .milliseconds(50))
            }
        } else {
            timer.disarm()
        }
        deadlines.arm(at: table.nextDeadline)
    }

    private func endOverdue() {
        end(table.takeOverdue(at: .now))
        run()
    }

    private func end(_ connections: [ConnectionTable.ID]) {
        for id in connections {
            guard let connection = OpaquePointer(bitPattern: id) else { continue }
            // The library notices the end of the connection and frees it.
            shutdown(microhttpd_socket(connection), CInt(SHUT_RDWR))
        }
    }
}

// MARK: Callbacks

extension HTTPServer {
    func began(_ exchange: Exchange) {
        exchanges[ObjectIdentifier(exchange)] = exchange
    }

    func ended(_ exchange: Exchange) {
        exchanges[ObjectIdentifier(exchange)] = nil
        table.responded(exchange.id, at: .now)
    }

    func changed(_ connection: OpaquePointer, _ code: MHD_ConnectionNotificationCode) {
        let id = UInt(bitPattern: connection)
        switch code {
        case .CONNECTION_NOTIFY_STARTED:
            table.began(id, address: PeerAddress.text(microhttpd_peer(connection)), at: .now)
        default:
            table.ended(id)
            onConnectionEnd?()
        }
    }
}
