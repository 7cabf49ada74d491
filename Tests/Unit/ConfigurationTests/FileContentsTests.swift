import Glibc
import TestSupport
import Testing

@testable import Configuration

@Suite("Contents of a file")
struct FileContentsTests {
    @Test("are read from a regular file only, without blocking")
    func kinds() throws {
        let scratch = try ScratchFolder()
        let fifo = scratch.path + "/fifo"
        #expect(mkfifo(fifo, 0o600) == 0)
        for (path, reason) in [(fifo, "a FIFO"), (scratch.path, "a folder"), ("/dev/zero", "a device")] {
            let error = #expect(throws: FileError.self) { try FileContents(path: path, limit: 100) }
            #expect(error?.reason == "it is \(reason), not a regular file")
        }
    }

    @Test("may be behind a link, unless the caller excludes links")
    func links() throws {
        let scratch = try ScratchFolder()
        let link = scratch.path + "/link"
        #expect(symlink(try scratch.write("file", "text"), link) == 0)
        #expect(try FileContents(path: link, limit: 4).bytes == Array("text".utf8))
        let error = #expect(throws: FileError.self) { try FileContents(path: link, limit: 4, followsLinks: false) }
        #expect(error?.reason == "it is a symbolic link, not a regular file")
    }

    @Test("are at most as long as the caller allows")
    func limit() throws {
        let scratch = try ScratchFolder()
        let file = try scratch.write("file", "12345")
        #expect(try FileContents(path: file, limit: 5).bytes.count == 5)
        let error = #expect(throws: FileError.self) { try FileContents(path: file, limit: 4) }
        #expect(error?.code == EFBIG)
    }
}
