internal import CMicroHTTPD
import EventLoop
internal import Glibc
import Time

/// One request of a connection and its reply.
@LoopActor
final class Exchange {
    private let connection: OpaquePointer
    private var method = ""
    private var path = ""
    /// The size of the target as it was received; nil if the request has none, or an invalid one.
    private let targetSize: Int?
    private var header: [RequestFraming.Field] = []
    private var endsConnection = false
    /// Nil while the server is released: its `deinit` ends the connections.
    private weak var server: HTTPServer?
    private let limits: HTTPLimits
    private let reply = HTTPReply()
    private var body: [UInt8] = []
    private var isTooLarge = false
    /// Whether the header was received.
    private(set) var hasBegun = false
    private var isHandled = false
    private var isSuspended = false
    private var hasFinished = false
    /// Reports the end of a suspended connection, which the library does not watch.
    private var hangUp: DescriptorSource?

    /// Identifies the connection in the table.
    var id: UInt { UInt(bitPattern: connection) }

    /// Begins with the target as it was received.
    init(_ connection: OpaquePointer, _ target: UnsafePointer<CChar>?, _ server: HTTPServer) {
        self.connection = connection
        let bytes = target.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        targetSize = bytes.flatMap { RequestFraming.isTarget($0) ? $0.count : nil }
        self.server = server
        limits = server.limits
        server.began(self)
    }

    /// Handles the header.
    func begin(
        _ method: UnsafePointer<CChar>, _ url: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>
    ) -> MHD_Result {
        hasBegun = true
        self.method = String(cString: method)
        path = String(cString: url)
        let size = microhttpd_header_size(connection)
        guard size <= limits.headerBytes else { return refuse(431) }
        guard let targetSize else { return refuse(400) }
        var received = ReceivedHeader(method, url, targetSize, version, size: size)
        list(.HEADER_KIND) { name, value in
            if let value { received.add(name, value) }
        }
        header = received.fields
        guard received.isComplete,
            let body = RequestFraming.body(version: String(cString: version), header)
        else { return refuse(400) }
        endsConnection = body == .chunks
        guard ["GET", "HEAD", "POST"].contains(self.method) else {
            return refuse(405, [("Allow", "GET, HEAD, POST")])
        }
        let length = value(of: "Content-Length")
        if let length, Int(length).map({ $0 > limits.bodyBytes }) ?? true { return refuse(413) }
        return .YES
    }

    /// Handles a part of the body.
    func append(_ part: UnsafeRawBufferPointer) {
        guard body.count + part.count <= limits.bodyBytes else {
            isTooLarge = true
            body = []
            return
        }
        body += part
    }

    /// Handles the end of the request, and the resumption after it.
    func proceed() -> MHD_Result {
        guard !isTooLarge else { return refuse(413) }
        if !isHandled {
            isHandled = true
            guard let server, server.isServing else { return .NO }
            server.table.received(id)
            server.handler(request(), reply)
        }
        switch reply.take() {
        case .response(let response): return queue(response)
        case .stream(let stream, let headers): return queue(stream, headers)
        case .done: return .NO
        case .pending:
            reply.onReady = { [unowned self] in resume() }
            suspend()
            return .YES
        }
    }

    /// Handles the end: the reply was sent, or the peer has disconnected.
    func finish() {
        hasFinished = true
        hangUp?.cancel()
        hangUp = nil
        reply.finish()
        reader?.stream.end()
        reader = nil
        server?.ended(self)
    }

    /// Ends the exchange because the server stops.
    func abandon() {
        if isHandled { shutdown(microhttpd_socket(connection), CInt(SHUT_RDWR)) }
        reader?.stream.end()
        if reply.isPending { reply.send(HTTPResponse(status: 503)) }
        resume()
    }

    // MARK: Suspension

    /// Stops the library from handling the connection until ``resume()``.
    func suspend() {
        guard !isSuspended else { return }
        isSuspended = true
        MHD_suspend_connection(connection)
        let descriptor = microhttpd_socket(connection)
        // EPOLLRDHUP: the peer has closed its side.
        let events = DescriptorSource.Events(rawValue: 0x2000)
        hangUp = try? DescriptorSource(descriptor, for: events) { [unowned self] _ in
            hangUp?.cancel()
            hangUp = nil
            reader?.stream.end()
            if reply.isPending { reply.send(HTTPResponse(status: 499)) }
            resume()
        }
    }

    /// Lets the library go on.
    func resume() {
        guard isSuspended, !hasFinished else { return }
        isSuspended = false
        hangUp?.cancel()
        hangUp = nil
        MHD_resume_connection(connection)
        server?.runSoon()
    }

    // MARK: Replies

    private var reader: StreamReader?

    private func refuse(_ status: Int, _ headers: [(name: String, value: String)] = []) -> MHD_Result {
        isHandled = true
        return queue(HTTPResponse(status: status, headers: [("Connection", "close")] + headers))
    }

    private func queue(_ response: HTTPResponse) -> MHD_Result {
        let made = response.body.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        server?.table.responding(id, at: .now)
        return queue(made, status: response.status, response.headers)
    }

    private func queue(_ stream: HTTPStream, _ headers: [(name: String, value: String)]) -> MHD_Result {
        let reader = StreamReader(stream, self)
        self.reader = reader
        stream.onReady = { [weak self] in self?.resume() }
        // The response owns the reader until `freeStream`.
        let made = MHD_create_response_from_callback(
            UInt64.max, 4096, readStream, Unmanaged.passRetained(reader).toOpaque(), freeStream)
        // The library would send the last chunk, which a client reads as the beginning of the next response.
        if method == "HEAD", let made { microhttpd_without_chunks(made) }
        return queue(made, status: 200, headers)
    }

    private func queue(
        _ made: OpaquePointer?, status: Int, _ headers: [(name: String, value: String)]
    ) -> MHD_Result {
        guard let made else { return .NO }
        for (name, value) in headers { MHD_add_response_header(made, name, value) }
        // The library accepts chunks that a proxy may understand differently: nothing behind them is read as a request.
        if endsConnection { MHD_add_response_header(made, "Connection", "close") }
        let result = MHD_queue_response(connection, UInt32(status), made)
        // The connection holds its own reference.
        MHD_destroy_response(made)
        return result
    }

    // MARK: The request

    private func value(of header: String) -> String? {
        MHD_lookup_connection_value(connection, .HEADER_KIND, header).map { String(cString: $0) }
    }

    private func request() -> HTTPRequest {
        let headers = header.map { field in
            (
                String(decoding: field.name, as: UTF8.self).lowercased(),
                String(decoding: RequestFraming.trimmed(field.value), as: UTF8.self)
            )
        }
        var query: [String: String] = [:]
        list(.GET_ARGUMENT_KIND) { name, value in
            let name = String(cString: name)
            if query[name] == nil { query[name] = value.map { String(cString: $0) } ?? "" }
        }
        return HTTPRequest(
            method: method, path: path, query: query,
            headers: Dictionary(headers) { "\($0), \($1)" }, body: body,
            peer: PeerAddress.text(microhttpd_peer(connection)))
    }

    /// Lists names and values of the request.
    private func list(
        _ kind: MHD_ValueKind, _ body: @escaping (UnsafePointer<CChar>, UnsafePointer<CChar>?) -> Void
    ) {
        let receiver = ValueReceiver(body)
        MHD_get_connection_values(
            connection, kind,
            { context, _, name, value in
                guard let context, let name else { return .YES }
                Unmanaged<ValueReceiver>.fromOpaque(context).takeUnretainedValue().add(name, value)
                return .YES
            }, Unmanaged.passUnretained(receiver).toOpaque())
    }
}

/// Receives names and values while the library lists them.
private final class ValueReceiver {
    let add: (UnsafePointer<CChar>, UnsafePointer<CChar>?) -> Void

    init(_ add: @escaping (UnsafePointer<CChar>, UnsafePointer<CChar>?) -> Void) {
        self.add = add
    }
}

/// The reader of a stream that the library calls.
@LoopActor
final class StreamReader {
    let stream: HTTPStream
    private weak var exchange: Exchange?

    init(_ stream: HTTPStream, _ exchange: Exchange) {
        self.stream = stream
        self.exchange = exchange
    }

    /// - Returns: the number of bytes; 0 after the connection was suspended, -2 at the end.
    func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        switch stream.read(into: buffer) {
        case .bytes(let count): return count
        case .ended: return -2
        case .later:
            exchange?.suspend()
            return exchange == nil ? -2 : 0
        }
    }
}
