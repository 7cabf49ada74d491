import EventLoop
import Foundation
import Glibc
import Logging
import TestSupport
import Testing
import Time

@testable import HTTPServer

/// A server on a free port of this host, and raw connections to it.
@LoopActor
final class Bench {
    let port: UInt16
    private var server: HTTPServer?

    init(_ change: (inout HTTPServerConfiguration) -> Void = { _ in }, handler: @escaping HTTPServer.Handler) throws {
        var configuration = HTTPServerConfiguration()
        change(&configuration)
        let socket = try ListeningSocket(address: "127.0.0.1", port: 0)
        port = socket.port
        server = try HTTPServer(socket, configuration, log: Logger("test", to: MemorySink()), handler: handler)
    }

    var connections: Int { server?.connectionCount ?? 0 }

    func stop() {
        server?.stop()
        server = nil
    }

    /// Releases the server without stopping it.
    func release() { server = nil }
}

/// A raw TCP connection.
@LoopActor
final class RawConnection {
    private let descriptor: CInt
    private(set) var received: [UInt8] = []
    private(set) var hasEnded = false
    private var source: DescriptorSource?

    var text: String { String(decoding: received, as: UTF8.self) }

    init(_ port: UInt16) throws {
        descriptor = Loopback.socket()
        try #require(Loopback.connect(descriptor, to: port))
        source = try DescriptorSource(descriptor, for: .readable) { [unowned self] _ in read() }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        if count > 0 {
            received += buffer.prefix(count)
        } else {
            hasEnded = true
            source?.cancel()
        }
    }

    func send(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
        }
    }

    func pause() { source?.events = [] }

    func close() {
        source?.cancel()
        Glibc.close(descriptor)
    }
}

@Suite("HTTP server")
struct HTTPServerTests {
    /// A server with a request that waits for its reply.
    @LoopActor
    private static func pendingRequest() async throws -> (Bench, RawConnection, HTTPReply) {
        var pending: HTTPReply?
        let bench = try Bench { _, reply in pending = reply }
        let connection = try RawConnection(bench.port)
        connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        try await until("the request") { pending != nil }
        return (bench, connection, try #require(pending))
    }

    @Test("passes on method, path, arguments, headers and body")
    func request() async throws {
        try await onLoop {
            var seen: HTTPRequest?
            let bench = try Bench { request, reply in
                seen = request
                reply.send(HTTPResponse(status: 201, headers: [("X-One", "1")], body: Array("made".utf8)))
            }
            let connection = try RawConnection(bench.port)
            connection.send(
                "POST /a%20b?x=1&x=2&y=%41 HTTP/1.1\r\nHost: h\r\nX-Two: 2\r\nX-Two: 3\r\nContent-Length: 4\r\n\r\nbody"
            )
            try await until("the response") { connection.text.hasSuffix("made") }
            #expect(connection.text.hasPrefix("HTTP/1.1 201"))
            #expect(connection.text.contains("X-One: 1\r\n"))
            let request = try #require(seen)
            #expect(request.method == "POST")
            #expect(request.path == "/a b")
            #expect(request.query == ["x": "1", "y": "A"])
            #expect(request.headers["x-two"] == "2, 3")
            #expect(request.body == Array("body".utf8))
            #expect(request.peer == "127.0.0.1")
            connection.close()
            bench.stop()
        }
    }

    @Test("sends a reply that comes after the handler has returned")
    func laterReply() async throws {
        try await onLoop {
            let (bench, connection, pending) = try await Self.pendingRequest()
            pending.send(HTTPResponse(status: 200, body: Array("late".utf8)))
            try await until("the response") { connection.text.hasSuffix("late") }
            connection.close()
            bench.stop()
        }
    }

    @Test("ignores a reply to a peer that has disconnected")
    func replyWithoutPeer() async throws {
        try await onLoop {
            let (bench, connection, pending) = try await Self.pendingRequest()
            connection.close()
            try await until("the end of the connection") { bench.connections == 0 }
            #expect(!pending.isPending)
            pending.send(HTTPResponse(status: 200))
            bench.stop()
        }
    }

    @Test("may be released in the turn in which a reply is sent")
    func release() async throws {
        try await onLoop {
            let (bench, connection, pending) = try await Self.pendingRequest()
            pending.send(HTTPResponse(status: 200))
            bench.stop()
            try await until("the end of the connection") { connection.hasEnded }
            connection.close()
        }
    }

    @Test(
        "ends while a reply is pending, a stream waits, and a request arrives: by being stopped, or only released",
        arguments: [false, true])
    func busyEnd(isStopped: Bool) async throws {
        try await onLoop {
            var pending: HTTPReply?
            var requests = 0
            let stream = HTTPStream()
            stream.send(Array("begun".utf8))
            // Longer than a busy machine needs: one connection sends nothing.
            let bench = try Bench({ $0.limits.requestTime = .seconds(600) }) { request, reply in
                requests += 1
                if request.path == "/stream" { reply.send(stream, headers: []) } else { pending = reply }
            }
            let connections = try (0..<4).map { _ in try RawConnection(bench.port) }
            connections[3].send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbo")
            connections[0].send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            connections[1].send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
            try await until("both requests") { requests == 2 && connections[1].text.contains("begun") }
            try await until("the connections") { bench.connections == 4 }
            connections[2].send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            connections[3].send("dy")
            let late = try RawConnection(bench.port)
            late.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            if isStopped { bench.stop() } else { bench.release() }
            #expect(stream.hasEnded)
            #expect(pending?.isPending == false)
            for connection in connections + [late] {
                try await until("the end of the connection") { connection.hasEnded }
                connection.close()
            }
            #expect(requests == 2)
            stream.send(Array("more".utf8))
            pending?.send(HTTPResponse(status: 200))
        }
    }

    @Test("streams bytes as they come, after the beginning")
    func stream() async throws {
        try await onLoop {
            var parts = ["one ", "two "]
            let stream = HTTPStream { parts.isEmpty ? nil : Array(parts.removeFirst().utf8) }
            let bench = try Bench { _, reply in reply.send(stream, headers: [("Content-Type", "text/plain")]) }
            let connection = try RawConnection(bench.port)
            connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            stream.send(Array("three ".utf8))
            try await until("the beginning") { connection.text.contains("three ") }
            stream.send(Array("four ".utf8))
            try await until("the next part") { connection.text.contains("four ") }
            let positions = ["one ", "two ", "three ", "four "].compactMap { connection.text.range(of: $0)?.lowerBound }
            #expect(positions.count == 4 && positions == positions.sorted())
            stream.end()
            try await until("the end") { connection.hasEnded }
            connection.close()
            bench.stop()
        }
    }

    @Test("answers HEAD with the headers of a stream and nothing behind them")
    func streamHeaders() async throws {
        try await onLoop {
            let bench = try Bench { _, reply in reply.sendStreamHeaders([("Content-Type", "text/event-stream")]) }
            let connection = try RawConnection(bench.port)
            connection.send("HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n")
            try await until("the end") { connection.hasEnded }
            let text = connection.text
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.contains("\r\nContent-Type: text/event-stream\r\n"))
            #expect(text.components(separatedBy: "\r\n\r\n").last == "")
            #expect(!text.lowercased().contains("content-length"))
            bench.stop()
        }
    }

    @Test("ends a stream whose peer has disconnected")
    func streamWithoutPeer() async throws {
        try await onLoop {
            var hasEnded = false
            let stream = HTTPStream()
            stream.onEnd = { hasEnded = true }
            let bench = try Bench { _, reply in reply.send(stream, headers: []) }
            let connection = try RawConnection(bench.port)
            connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            stream.send(Array("x".utf8))
            try await until("the stream") { connection.text.contains("x") }
            connection.close()
            try await until("the end of the stream") { hasEnded }
            try await until("the end of the connection") { bench.connections == 0 }
            bench.stop()
        }
    }

    @Test("disconnects a peer that reads too slowly")
    func slowReader() async throws {
        try await onLoop {
            var hasEnded = false
            let stream = HTTPStream(limit: 1 << 20)
            stream.onEnd = { hasEnded = true }
            let bench = try Bench { _, reply in reply.send(stream, headers: []) }
            let connection = try RawConnection(bench.port)
            connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            try await until("the stream") { !connection.received.isEmpty }
            connection.pause()
            // A quarter of the limit at a time: few turns fill the buffers of the sockets, and none exceeds the limit alone.
            let part = [UInt8](repeating: 0x61, count: 1 << 18)
            try await until("the end of the stream") {
                stream.send(part)
                #expect(stream.backlog <= 1 << 20)
                return hasEnded
            }
            connection.close()
            bench.stop()
        }
    }

    @Test(
        "rejects what exceeds its limits",
        arguments: [
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8193\r\n\r\n", "413"),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", "413"),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2328\r\n"
                    + String(repeating: "a", count: 9000) + "\r\n0\r\n\r\n", "413"
            ),
            ("GET / HTTP/1.1\r\nHost: h\r\nX: " + String(repeating: "a", count: 9000) + "\r\n\r\n", "431"),
            ("GET /" + String(repeating: "a", count: 70000) + " HTTP/1.1\r\nHost: h\r\n\r\n", "4"),
            ("DELETE / HTTP/1.1\r\nHost: h\r\n\r\n", "405"), ("TRACE / HTTP/1.1\r\nHost: h\r\n\r\n", "405"),
            ("GET / HTTP/1.1\r\n\r\n", "400"),
        ])
    func limits(request: String, status: String) async throws {
        try await onLoop {
            let bench = try Bench { _, reply in reply.send(HTTPResponse(status: 200)) }
            let connection = try RawConnection(bench.port)
            connection.send(request)
            try await until("an answer") { !connection.received.isEmpty || connection.hasEnded }
            #expect(
                connection.text.hasPrefix("HTTP/1.1 \(status)") || connection.received.isEmpty,
                "\(connection.text.prefix(60))")
            connection.close()
            bench.stop()
        }
    }

    @Test("ends a connection that sends its request byte by byte")
    func slowSender() async throws {
        try await onLoop {
            let bench = try Bench({ $0.limits.requestTime = .seconds(1) }) { _, reply in
                reply.send(HTTPResponse(status: 200))
            }
            let connection = try RawConnection(bench.port)
            connection.send("GET / HT")
            // Each byte restarts the library's own timeout.
            try await until("the end of the connection") {
                connection.send("T")
                return connection.hasEnded
            }
            connection.close()
            try await until("the connection is freed") { bench.connections == 0 }
            bench.stop()
        }
    }

    @Test("refuses the ninth connection of an address whose eight wait for responses")
    func tooManyConnections() async throws {
        try await onLoop {
            var pending: [HTTPReply] = []
            let bench = try Bench { _, reply in pending.append(reply) }
            let first = try (0..<8).map { _ in try RawConnection(bench.port) }
            for connection in first { connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
            try await until("eight requests") { pending.count == 8 }
            let ninth = try RawConnection(bench.port)
            ninth.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            try await until("the end of the ninth") { ninth.hasEnded }
            #expect(bench.connections == 8)
            for connection in first + [ninth] { connection.close() }
            bench.stop()
        }
    }

    @Test("serves the ninth connection of an address with unused ones, and ends the oldest of them")
    func unusedConnections() async throws {
        try await onLoop {
            // Longer than a busy machine needs: the eight send nothing.
            let bench = try Bench({ $0.limits.requestTime = .seconds(600) }) { _, reply in
                reply.send(HTTPResponse(status: 200, body: Array("ok".utf8)))
            }
            var first: [RawConnection] = []
            for count in 1...8 {
                first.append(try RawConnection(bench.port))
                try await until("the connection") { bench.connections == count }
            }
            let ninth = try RawConnection(bench.port)
            ninth.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            try await until("the response") { ninth.text.hasSuffix("ok") }
            try await until("the end of the first") { first[0].hasEnded && bench.connections == 8 }
            #expect(!first[1...].contains { $0.hasEnded })
            for connection in first + [ninth] { connection.close() }
            bench.stop()
        }
    }

    @Test("serves a request while hundreds of connections that send nothing are opened")
    func flood() async throws {
        try await onLoop {
            let bench = try Bench({
                $0.isSharedAddress = { _ in true }
                $0.limits.requestTime = .seconds(600)
            }) { _, reply in
                reply.send(HTTPResponse(status: 200, body: Array("ok".utf8)))
            }
            let unused = try (0..<60).map { _ in try RawConnection(bench.port) }
            try await until("the connections") { bench.connections >= 56 }
            var later: [RawConnection] = []
            for _ in 0..<20 {
                later += try (0..<10).map { _ in try RawConnection(bench.port) }
                let connection = try RawConnection(bench.port)
                connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                try await until("the response") { connection.text.hasSuffix("ok") }
                connection.close()
            }
            #expect(bench.connections <= HTTPLimits().connections)
            for connection in unused + later { connection.close() }
            bench.stop()
        }
    }

    @Test("accepts connections again after the largest number of them has ended at once")
    func full() async throws {
        try await onLoop {
            let limit = HTTPLimits().connections
            var pending: [HTTPReply] = []
            let bench = try Bench({ $0.isSharedAddress = { _ in true } }) { _, reply in pending.append(reply) }
            let connections = try (0...limit).map { _ in try RawConnection(bench.port) }
            for connection in connections { connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
            try await until("the requests") { pending.count == limit }
            #expect(bench.connections == limit)
            for connection in connections { connection.close() }
            try await until("the end of the connections") { bench.connections == 0 }
            let next = try RawConnection(bench.port)
            next.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            try await until("the request") { pending.count == limit + 1 }
            next.close()
            bench.stop()
        }
    }

    @Test("reports an address that is in use or invalid")
    func addresses() throws {
        let socket = try ListeningSocket(address: "127.0.0.1", port: 0)
        #expect(socket.address == "127.0.0.1")
        #expect(throws: HTTPServerError.self) { try ListeningSocket(address: "127.0.0.1", port: socket.port) }
        #expect(throws: HTTPServerError.self) { try ListeningSocket(address: "localhost", port: 0) }
        close(socket.descriptor)
    }
}
