internal import CMicroHTTPD
import EventLoop
internal import Glibc

// The callbacks of libmicrohttpd. It calls them during `MHD_run` on the loop's thread. The context is the server, which ends the
// library before it is freed.

private func server(_ context: UnsafeMutableRawPointer) -> HTTPServer {
    Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
}

/// Decides whether a connection may begin.
func acceptsConnection(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafePointer<sockaddr>?, _: socklen_t
) -> MHD_Result {
    guard let context else { return .NO }
    let accepts = LoopActor.assumeIsolated((server(context), PeerAddress.text(address))) {
        $0.isServing && $0.table.accepts($1)
    }
    return accepts ? .YES : .NO
}

/// Handles the beginning and the end of a connection.
func connectionChanged(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_ConnectionNotificationCode
) {
    guard let context, let connection else { return }
    LoopActor.assumeIsolated((server(context), connection, code)) { $0.changed($1, $2) }
}

/// Handles the request line, before the library changes it.
///
/// - Returns: the state of the request, an `Exchange`. It is released in `requestCompleted`.
func requestBegan(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context, let connection else { return nil }
    let exchange = LoopActor.assumeIsolated((server(context), connection, target)) { server, connection, target in
        server.isServing ? Exchange(connection, target, server) : nil
    }
    return exchange.map { Unmanaged.passRetained($0).toOpaque() }
}

/// Handles the headers, then each part of the body, then the end of a request; and again after a suspended connection was resumed.
func handleRequest(
    _: UnsafeMutableRawPointer?, _: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let url, let method, let version, let size, let known = state?.pointee else { return .NO }
    let exchange = Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
    guard LoopActor.assumeIsolated(exchange, { $0.hasBegun }) else {
        return LoopActor.assumeIsolated((exchange, method, url, version)) { $0.begin($1, $2, $3) }
    }
    guard size.pointee > 0 else { return LoopActor.assumeIsolated(exchange) { $0.proceed() } }
    let part = UnsafeRawBufferPointer(start: data, count: size.pointee)
    size.pointee = 0
    LoopActor.assumeIsolated((exchange, part)) { $0.append($1) }
    return .YES
}

/// Handles the end of a request, before the connection is closed or reused.
func requestCompleted(
    _ context: UnsafeMutableRawPointer?, _: OpaquePointer?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _: MHD_RequestTerminationCode
) {
    guard let known = state?.pointee else { return }
    state?.pointee = nil
    let exchange = Unmanaged<Exchange>.fromOpaque(known).takeRetainedValue()
    LoopActor.assumeIsolated(exchange) { $0.finish() }
}

/// Copies the next bytes of a stream; suspends the connection while there are none.
func readStream(
    _ context: UnsafeMutableRawPointer?, _: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
) -> Int {
    guard let context, let buffer else { return -2 }
    let reader = Unmanaged<StreamReader>.fromOpaque(context).takeUnretainedValue()
    let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: size).bindMemory(to: UInt8.self)
    return LoopActor.assumeIsolated((reader, bytes)) { $0.read(into: $1) }
}

/// Called when the library frees the response.
func freeStream(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<StreamReader>.fromOpaque(context).release()
}
