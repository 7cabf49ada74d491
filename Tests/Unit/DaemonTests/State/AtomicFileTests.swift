import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Configuration
@testable import Daemon

@Suite("Atomic file")
struct AtomicFileTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
    }

    private var path: String { scratch.path + "/file" }

    private func write(_ text: String, mode: mode_t = 0o600) throws {
        try AtomicFile.write(Array(text.utf8), to: path, mode: mode, isDurable: true)
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    private var status: stat {
        var status = stat()
        lstat(path, &status)
        return status
    }

    @Test("has the bytes that were written, also none or one", arguments: ["", "a", "ab"])
    func contents(text: String) throws {
        try write(text)
        #expect(try self.text(path) == text)
    }

    @Test("has the requested mode", arguments: [0o600, 0o644] as [mode_t])
    func mode(mode: mode_t) throws {
        try write("a", mode: mode)
        #expect(status.st_mode & 0o7777 == mode)
        try write("b", mode: mode)
        #expect(status.st_mode & 0o7777 == mode)
    }

    @Test("replaces the old file: readers that have it open keep reading the old one")
    func replaces() throws {
        try write("old")
        let old = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(old) }
        let before = status.st_ino
        try write("new")
        #expect(status.st_ino != before)
        var bytes = [UInt8](repeating: 0, count: 8)
        let count = read(old, &bytes, bytes.count)
        #expect(bytes.prefix(max(0, count)) == Array("old".utf8)[...])
        #expect(try text(path) == "new")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["file"])
    }

    @Test("is not written through a link with either name")
    func links() throws {
        let victim = try scratch.write("victim", "precious")
        #expect(symlink(victim, path + ".new") == 0)
        try write("a")
        #expect(try text(path) == "a")
        #expect(try text(victim) == "precious")
        #expect(status.st_mode & S_IFMT == S_IFREG)
        unlink(path)
        #expect(symlink(victim, path) == 0)
        let error = #expect(throws: FileError.self) { try write("b") }
        #expect(error?.reason == "it is a symbolic link, not a regular file")
        #expect(try text(victim) == "precious")
        #expect(status.st_mode & S_IFMT == S_IFLNK)
    }

    @Test("replaces what a killed process has left beside it, whether there is an old file or not")
    func leftover() throws {
        for text in ["a", "b"] {
            _ = try scratch.write("file.new", "incomplete")
            // A failure of an earlier call does not count.
            errno = 0
            try write(text)
            #expect(try self.text(path) == text)
        }
    }

    @Test("is closed after an error")
    func closed() async throws {
        #expect(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        var byte: UInt8 = 0
        #expect(throws: FileError(EIO)) {
            try AtomicFile.open(path, O_WRONLY | O_NONBLOCK) { _ throws(FileError) in
                #expect(read(reader, &byte, 1) == -1)
                throw FileError(EIO)
            }
        }
        // A program that another test starts has the descriptor until its `exec`.
        try await until("the end of the FIFO") { read(reader, &byte, 1) == 0 }
    }

    @Test("does not wait for a FIFO with either name")
    func fifos() throws {
        #expect(mkfifo(path + ".new", 0o600) == 0)
        try write("a")
        #expect(try text(path) == "a")
        unlink(path)
        #expect(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: FileError.self) { try write("b") }
        #expect(error?.reason == "it is a FIFO, not a regular file")
    }
}
