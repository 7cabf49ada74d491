import EventLoop
import Foundation
import Synchronization

/// A program that a test started: what it prints, and its end.
///
/// It does not use Foundation's `Process`, which waits on a run loop; the loop's thread has none.
public final class Program: Sendable {
    /// Process id.
    public let identifier: Int32
    private let input: Mutex<Int32?>
    private let output = Mutex(Output())
    private let reader: Int32
    private let status = Mutex<Int32?>(nil)

    private struct Output {
        var text = ""
        var isComplete = false

        /// Reads what is there.
        mutating func collect(from descriptor: Int32) {
            var bytes = [UInt8](repeating: 0, count: 65536)
            while !isComplete {
                let count = read(descriptor, &bytes, bytes.count)
                if count < 0, errno == EAGAIN { return }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return isComplete = true }
                text += String(decoding: bytes.prefix(count), as: UTF8.self)
            }
        }
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - name: an absolute path, or a name to be found in `PATH` and the folders of system programs.
    ///   - arguments: without the program's name.
    ///   - environment: added to this process's own.
    /// - Throws: `SystemError` when the program cannot be started.
    public init(_ name: String, _ arguments: [String] = [], environment: [String: String] = [:]) throws {
        var toProgram: [Int32] = [0, 0]
        var fromProgram: [Int32] = [0, 0]
        // Kept from other programs in one step. Index 0 is the program's end.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &toProgram) == 0, Self.openPipe(&fromProgram) else {
            throw Overdue(description: "no descriptors for \(name)")
        }
        let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        defer {
            close(toProgram[0])
            close(fromProgram[0])
        }
        identifier = try Subprocess.spawn(
            Self.find(name), arguments, environment: merged.map { "\($0)=\($1)" },
            descriptors: [0: toProgram[0], 1: fromProgram[0], 2: fromProgram[0]])
        input = Mutex(toProgram[1])
        reader = fromProgram[1]
        Thread.detachNewThread { [self] in collect() }
    }

    /// Opens a pipe with room for a burst: the daemon drops log lines that it cannot write at once. Index 0 is for writing.
    private static func openPipe(_ ends: inout [Int32]) -> Bool {
        // A FIFO, because its ends can be kept from other programs in one step.
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("j2m-" + UUID().uuidString).path
        guard mkfifo(path, 0o600) == 0 else { return false }
        defer { unlink(path) }
        ends[1] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        ends[0] = open(path, O_WRONLY | O_CLOEXEC)
        // F_SETPIPE_SZ, which Swift does not import.
        _ = fcntl(ends[0], 1031, 1 << 20)
        return ends[0] >= 0 && ends[1] >= 0
    }

    /// The folder in which this build put its programs.
    public static var buildFolder: String {
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "."
        return URL(fileURLWithPath: executable).deletingLastPathComponent().path
    }

    /// Everything it has printed so far, standard error included. What it has printed before a message that the test has received is
    /// there, also if the thread that collects it has not run since.
    public var printed: String {
        output.withLock { output in
            output.collect(from: reader)
            return output.text
        }
    }

    /// Whether it has ended and everything that it has printed is there.
    public var hasEnded: Bool { !isRunning && output.withLock { $0.isComplete } }

    /// Whether it still runs.
    public var isRunning: Bool { exitStatus == nil }

    /// Exit status once it has ended; 128 and the signal's number when a signal ended it.
    public var exitStatus: Int32? { reap(WNOHANG) }

    /// Types a line on its standard input.
    public func type(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = input.withLock { $0.map { write($0, bytes, bytes.count) } }
    }

    /// Closes its standard input.
    public func closeInput() {
        // Once: the kernel may soon give the number to another process.
        input.withLock { descriptor in
            if let number = descriptor { close(number) }
            descriptor = nil
        }
    }

    /// Sends it a signal.
    public func signal(_ number: Int32) {
        kill(identifier, number)
    }

    /// Ends it and waits for its end: politely, and after five seconds without.
    public func stop() {
        signal(SIGTERM)
        let deadline = ContinuousClock.now + .seconds(5)
        while isRunning, .now < deadline { usleep(1000) }
        if isRunning { signal(SIGKILL) }
        waitForExit()
    }

    /// Waits for its end, however it comes.
    public func waitForExit() {
        _ = reap(0)
    }

    deinit {
        if isRunning { signal(SIGKILL) }
        closeInput()
    }

    private func reap(_ options: Int32) -> Int32? {
        status.withLock { known in
            var raw: Int32 = 0
            if known == nil, waitpid(identifier, &raw, options) == identifier {
                known = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + raw & 0x7F
            }
            return known
        }
    }

    /// Reads until the end, so that the program never waits for the test.
    private func collect() {
        var isComplete = false
        while !isComplete {
            var wait = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            _ = poll(&wait, 1, -1)
            isComplete = output.withLock { output in
                output.collect(from: reader)
                return output.isComplete
            }
        }
        close(reader)
    }

    private static func find(_ name: String) -> String {
        guard !name.contains("/") else { return name }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin", "/usr/bin"]
        return folders.map { $0 + "/" + name }.first { FileManager.default.isExecutableFile(atPath: $0) } ?? name
    }
}
