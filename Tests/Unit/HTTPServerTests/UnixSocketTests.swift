import EventLoop
import Foundation
import Glibc
import Logging
import TestSupport
import Testing

@testable import HTTPServer

@Suite("HTTP on a Unix socket")
struct UnixSocketTests {
    private let folder: ScratchFolder
    private var path: String { folder.path + "/s" }

    init() throws {
        folder = try ScratchFolder()
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    /// Why a socket cannot be bound; nil if it can.
    private func error(_ path: String, group: String? = nil) -> String? {
        do throws(HTTPServerError) {
            let socket = try ListeningSocket(path: path, group: group)
            close(socket.descriptor)
            socket.removeFile()
            return nil
        } catch {
            return error.description
        }
    }

    private func address(_ path: String) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        return address
    }

    private func call(
        _ function: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt, _ descriptor: CInt, _ path: String
    ) -> CInt {
        var address = address(path)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// The answer to a request of a client whose own socket is bound to a path, or to none.
    @LoopActor
    private func answer(from own: String? = nil) async throws -> String {
        let client = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(client) }
        if let own { try #require(call(bind, client, own) == 0) }
        try #require(call(connect, client, path) == 0)
        let request = "GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        // A server that has closed the connection already is the end, too.
        _ = send(client, request, request.utf8.count, CInt(MSG_NOSIGNAL))
        var received: [UInt8] = []
        var hasEnded = false
        try await until("the end of the response") {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(client, &buffer, buffer.count, CInt(MSG_DONTWAIT))
            if count > 0 { received += buffer.prefix(count) }
            hasEnded = hasEnded || count == 0 || (count < 0 && errno == ECONNRESET)
            return hasEnded
        }
        return String(decoding: received, as: UTF8.self)
    }

    @Test("serves clients, also those with a long path of their own")
    func serves() async throws {
        try await onLoop {
            let socket = try ListeningSocket(path: path, group: nil)
            var peers: [String] = []
            let server = try HTTPServer(
                socket, HTTPServerConfiguration(), log: Logger("test", to: MemorySink())
            ) { request, reply in
                peers.append(request.peer)
                reply.send(HTTPResponse(status: 200, body: Array("path \(request.path)".utf8)))
            }
            let long = folder.path + "/" + String(repeating: "c", count: 106 - folder.path.utf8.count)
            for own in [nil, folder.path + "/c", long] {
                let answer = try await answer(from: own)
                #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("path /x"), "\(own ?? "")")
            }
            #expect(peers == ["", "", ""])
            try await until("the end of the connections") { server.connectionCount == 0 }
            server.stop()
            socket.removeFile()
            #expect(mode(path) == nil)
        }
    }

    @Test("closes connections above the limit, and serves again when others have ended")
    func tooMany() async throws {
        try await onLoop {
            let socket = try ListeningSocket(path: path, group: nil)
            var configuration = HTTPServerConfiguration()
            configuration.limits.connections = 2
            configuration.limits.spareConnections = 0
            configuration.limits.requestTime = .seconds(600)
            configuration.isSharedAddress = { _ in true }
            let server = try HTTPServer(socket, configuration, log: Logger("test", to: MemorySink())) { _, reply in
                reply.send(HTTPResponse(status: 200))
            }
            let idle = try (0..<2).map { _ in
                let client = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
                try #require(call(connect, client, path) == 0)
                return client
            }
            try await until("two connections") { server.connectionCount == 2 }
            #expect(try await answer() == "")
            #expect(server.connectionCount == 2)
            close(idle[0])
            try await until("the end of one") { server.connectionCount == 1 }
            #expect(try await answer().hasPrefix("HTTP/1.1 200"))
            close(idle[1])
            server.stop()
            socket.removeFile()
        }
    }

    @Test("is for the user only, or also for a group")
    func permissions() throws {
        let own = try ListeningSocket(path: path, group: nil)
        #expect(mode(path) == 0o600)
        close(own.descriptor)
        own.removeFile()
        let shared = try ListeningSocket(path: path, group: "\(getegid())")
        #expect(mode(path) == 0o660)
        close(shared.descriptor)
        shared.removeFile()
        #expect(
            error(path, group: "no-such-group")
                == "there is no group no-such-group; set the name or number of an existing group")
        #expect(error(path, group: "4294967295")?.hasPrefix("there is no group") == true)
        #expect(mode(path) == nil)
    }

    @Test("replaces a socket that an earlier process has left behind")
    func stale() throws {
        close(try ListeningSocket(path: path, group: nil).descriptor)
        #expect(mode(path) == 0o600)
        #expect(error(path) == nil)
        #expect(mode(path) == nil)
    }

    @Test("leaves the socket of a running process alone")
    func inUse() throws {
        let first = try ListeningSocket(path: path, group: nil)
        #expect(error(path) == "\(path) is in use by another process; end it, or set another path")
        close(first.descriptor)
        #expect(mode(path) == 0o600)
    }

    @Test("leaves every other file alone", arguments: ["file", "folder", "link", "dangling"])
    func foreign(kind: String) throws {
        let target = folder.path + "/target"
        switch kind {
        case "file": try Data("x".utf8).write(to: URL(fileURLWithPath: path))
        case "folder": mkdir(path, 0o700)
        case "link":
            close(try ListeningSocket(path: target, group: nil).descriptor)
            symlink(target, path)
        default: symlink(target, path)
        }
        #expect(error(path) == "\(path) exists and is not a socket; remove it, or set another path")
        #expect(mode(path) != nil)
        if kind == "link" { #expect(mode(target) == 0o600) }
    }

    @Test("leaves the socket of another user alone", .enabled(if: geteuid() == 0))
    func otherUser() throws {
        close(try ListeningSocket(path: path, group: nil).descriptor)
        lchown(path, 65534, 65534)
        #expect(error(path) == "\(path) is a socket of another user; remove it, or set another path")
        #expect(mode(path) == 0o600)
    }

    @Test("does not remove the file of another process at its end")
    func replaced() throws {
        let socket = try ListeningSocket(path: path, group: nil)
        close(socket.descriptor)
        #expect(rename(path, path + ".old") == 0)
        let next = try ListeningSocket(path: path, group: nil)
        socket.removeFile()
        #expect(mode(path) == 0o600)
        close(next.descriptor)
    }

    @Test("has a path of at most 107 bytes in a folder that exists")
    func paths() {
        let prefix = folder.path + "/"
        let longest = prefix + String(repeating: "s", count: 107 - prefix.utf8.count)
        #expect(error(longest) == nil)
        #expect(error(longest + "s") == "\(longest)s has 108 bytes; the path of a Unix socket has at most 107")
        #expect(
            error(prefix + "no/s")
                == "cannot bind \(prefix)no/s: No such file or directory; its folder must exist")
    }

    @Test("pauses accepting after an error, instead of trying again at once")
    func pause() async throws {
        try await onLoop {
            var pair: [CInt] = [0, 0]
            #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0)
            #expect(write(pair[1], "x", 1) == 1)
            let acceptor = try ConnectionAcceptor(pair[0]) { _ in Issue.record("accepted") }
            try await until("the pause") { acceptor.isPaused }
            acceptor.stop()
            #expect(!acceptor.isPaused)
            close(pair[1])
        }
    }
}
