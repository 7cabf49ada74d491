import EventLoop
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Framing of requests")
struct RequestFramingTests {
    private static let second = "GET /second HTTP/1.1\r\nHost: h\r\n\r\n"

    /// Requests whose end or host another program could understand differently.
    private static let ambiguous: [(name: String, text: String)] = [
        ("two lengths", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 34\r\n\r\n"),
        ("one length twice", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n"),
        ("a list of lengths", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0, 34\r\n\r\n"),
        ("a length with a sign", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +0\r\n\r\n"),
        ("a hexadecimal length", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x0\r\n\r\n"),
        ("an empty length", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n"),
        (
            "a length and chunks",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        (
            "chunks and a length",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"
        ),
        ("an unknown encoding", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        ("an encoding with a suffix", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunkedx\r\n\r\n0\r\n\r\n"),
        (
            "two encodings",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n"
        ),
        ("chunks in HTTP/1.0", "POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("a space before a colon", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length : 34\r\n\r\n"),
        ("a space before a name", "POST / HTTP/1.1\r\nHost: h\r\n Content-Length: 34\r\n\r\n"),
        ("a continued value", "POST / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n"),
        ("a tab in a name", "GET / HTTP/1.1\r\nHost: h\r\nX\t: a\r\n\r\n"),
        ("an empty name", "GET / HTTP/1.1\r\nHost: h\r\n: a\r\n\r\n"),
        ("a line feed as the end of a line", "GET / HTTP/1.1\r\nHost: h\r\nX: a\nContent-Length: 34\r\n\r\n"),
        ("a line feed as the end of the request line", "GET / HTTP/1.1\nHost: h\r\n\r\n"),
        ("a line feed as the end of the header", "GET / HTTP/1.1\r\nHost: h\r\n\n"),
        ("a carriage return in a value", "GET / HTTP/1.1\r\nHost: h\r\nX: a\rContent-Length: 34\r\n\r\n"),
        ("a zero byte in a value", "GET / HTTP/1.1\r\nHost: h\r\nX: a\u{0}Content-Length: 34\r\n\r\n"),
        ("two hosts", "GET / HTTP/1.1\r\nHost: h\r\nHost: other\r\n\r\n"),
        ("one host twice", "GET / HTTP/1.1\r\nHost: h\r\nhost: h\r\n\r\n"),
        ("no host", "GET / HTTP/1.1\r\n\r\n"),
        ("an empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
        ("a host with a path", "GET / HTTP/1.1\r\nHost: h/x\r\n\r\n"),
        ("a host with a user", "GET / HTTP/1.1\r\nHost: a@h\r\n\r\n"),
        ("a zero byte in the path", "GET /style.css\u{0}.js HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("an escaped zero byte in the path", "GET /style.css%00.js HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("an escaped line feed in the path", "GET /style.css%0a HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("an escaped delete in the path", "GET /style.css%7F HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("an escaped zero byte in an argument", "GET /?a=x%00y HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("an escape without digits", "GET /a%zz HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("an escape that is cut off", "GET /a%4 HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("a space in the path", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("two spaces before the path", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("a tab in the path", "GET /a\tb HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("bytes above ASCII in the path", "GET /é HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("a fragment", "GET /#a HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("the address of another host", "GET http://other/ HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("a path without a slash", "GET style.css HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("no path", "GET HTTP/1.1\r\nHost: h\r\n\r\n"),
    ]

    @Test(
        "an ambiguous request gets 400, its connection is closed, and the rest is not read as a request",
        arguments: ambiguous)
    func rejects(name: String, text: String) async throws {
        try await onLoop {
            var paths: [String] = []
            let bench = try Bench { request, reply in
                paths.append(request.path)
                reply.send(HTTPResponse(status: 200))
            }
            let connection = try RawConnection(bench.port)
            connection.send(text + Self.second)
            try await until("the end of the connection") { connection.hasEnded }
            #expect(paths == [])
            #expect(connection.text.hasPrefix("HTTP/1.1 400") || connection.text.hasPrefix("HTTP/1.0 400"))
            #expect(!connection.text.contains(" 200 "), "\(connection.text)")
            connection.close()
            bench.stop()
        }
    }

    private static let clear = [
        "GET /first HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /first HTTP/1.1\r\nHost:h\r\nX:\r\nY: a  \r\nZ: \ta\tb\r\n\r\n",
        "GET /first HTTP/1.1\r\nhost: [2001:db8::1]:8377 \r\n\r\n",
        "GET /first?a=%20&b&c=%C3%A9+x HTTP/1.1\r\nHost: home_1.example.:80\r\n\r\n",
        "GET /fir%73t HTTP/1.1\r\nHost: h\r\nX: caf\u{E9}\r\n\r\n",
        "HEAD /first HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST /first HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody",
        "\r\nGET /first HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "a", count: 8000))\r\n\r\n",
        "GET /first HTTP/1.1\r\nHost: h\r\n"
            + (1...150).map { "X-\($0): \(String(repeating: "a", count: 30))\r\n" }.joined() + "\r\n",
    ]

    @Test("a clear request is handled, and the next one on its connection", arguments: clear)
    func accepts(text: String) async throws {
        try await onLoop {
            var paths: [String] = []
            let bench = try Bench { request, reply in
                paths.append(request.path)
                reply.send(HTTPResponse(status: 200))
            }
            let connection = try RawConnection(bench.port)
            // In parts, so that the library's buffer grows.
            for part in stride(from: 0, to: text.utf8.count, by: 1500) {
                connection.send(
                    String(decoding: Array(text.utf8)[part..<min(part + 1500, text.utf8.count)], as: UTF8.self))
            }
            try await until("the first request") { paths.count == 1 || connection.hasEnded }
            connection.send(Self.second)
            try await until("both requests") { paths.count == 2 || connection.hasEnded }
            #expect(paths == ["/first", "/second"], "\(connection.text)")
            connection.close()
            bench.stop()
        }
    }

    @Test("a body in chunks is read, and ends the connection")
    func chunks() async throws {
        try await onLoop {
            var bodies: [String] = []
            let bench = try Bench { request, reply in
                bodies.append(String(decoding: request.body, as: UTF8.self))
                reply.send(HTTPResponse(status: 200))
            }
            let connection = try RawConnection(bench.port)
            connection.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n")
            connection.send("2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n" + Self.second)
            try await until("the end of the connection") { connection.hasEnded }
            #expect(bodies == ["body"])
            #expect(connection.text.contains("Connection: close"))
            connection.close()
            bench.stop()
        }
    }
}
