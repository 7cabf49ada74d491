import Configuration
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Daemon

@Suite("Lock of the state folder")
struct StateLockTests {
    private func folder(_ scratch: ScratchFolder) -> StateFolder {
        StateFolder(option: scratch.path + "/state", environment: [:])
    }

    /// Waits until the folder can be locked: a program that another test starts has all descriptors until its `exec`.
    private func isFree(_ folder: StateFolder) async throws {
        try await until("the folder is free") {
            if case .held = StateLock.take(in: folder) { true } else { false }
        }
    }

    @Test("is held once, names its holder, and is free after the holder releases it")
    func once() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            var first: StateLock.Outcome? = StateLock.take(in: folder(scratch))
            guard case .held = first else {
                Issue.record("not held: \(String(describing: first))")
                return
            }
            guard case .inUse(getpid()) = StateLock.take(in: folder(scratch)) else {
                Issue.record("held twice")
                return
            }
            let mode = try FileManager.default.attributesOfItem(atPath: scratch.path + "/state/lock")[.posixPermissions]
            #expect(mode as? Int == 0o600)
            first = nil
            try await isFree(folder(scratch))
        }
    }

    @Test("is free for the next process, whatever the old file contains")
    func leftFile() throws {
        let scratch = try ScratchFolder()
        try folder(scratch).create()
        _ = try scratch.write("state/lock", "99999999999999999999 and more than that\n")
        guard case .held(let lock) = StateLock.take(in: folder(scratch)) else {
            Issue.record("not held")
            return
        }
        let text = try Data(contentsOf: URL(filePath: scratch.path + "/state/lock"))
        #expect(text == Data("\(getpid())\n".utf8))
        withExtendedLifetime(lock) {}
    }

    @Test("is not inherited by child processes")
    func notInherited() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            var lock: StateLock.Outcome? = StateLock.take(in: folder(scratch))
            let child = try Program("/bin/cat")
            #expect(lock != nil)
            lock = nil
            try await isFree(folder(scratch))
            #expect(child.isRunning)
            child.stop()
        }
    }

    @Test("does not follow links or wait for a FIFO")
    func links() throws {
        let scratch = try ScratchFolder()
        try folder(scratch).create()
        let path = scratch.path + "/state/lock"
        #expect(symlink(try scratch.write("victim", "precious"), path) == 0)
        guard case .unavailable(let error) = StateLock.take(in: folder(scratch)) else {
            Issue.record("followed the link")
            return
        }
        #expect(error.reason == "it is a symbolic link, not a regular file")
        unlink(path)
        #expect(mkfifo(path, 0o600) == 0)
        guard case .unavailable(let error) = StateLock.take(in: folder(scratch)) else {
            Issue.record("took the FIFO")
            return
        }
        #expect(error.reason == "it is a FIFO, not a regular file")
    }
}
