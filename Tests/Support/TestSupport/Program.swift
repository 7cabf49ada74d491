import Foundation
import Synchronization

/// A program that a test started: what it prints, and its end.
///
/// `posix_spawn` and `waitpid`, because Foundation's `Process` waits on a run loop, which the loop's thread has not.
public final class Program: Sendable {
    /// Process id.
    public let identifier: Int32
    private let input: Mutex<Int32?>
    private let output = Mutex((text: "", isComplete: false))
    private let status = Mutex<Int32?>(nil)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - name: an absolute path, or a name to be found in `PATH` and the folders of system programs.
    ///   - arguments: without the program's name.
    ///   - environment: added to this process's own.
    /// - Throws: ``Overdue`` when the program cannot be started.
    public init(_ name: String, _ arguments: [String] = [], environment: [String: String] = [:]) throws {
        var toProgram: [Int32] = [0, 0]
        var fromProgram: [Int32] = [0, 0]
        // Socket pairs, because they can be kept from other programs in one step; index 0 is the program's end.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard
            socketpair(AF_UNIX, kind, 0, &toProgram) == 0,
            socketpair(AF_UNIX, kind, 0, &fromProgram) == 0
        else {
            throw Overdue(description: "no descriptors for \(name)")
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toProgram[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromProgram[0], 1)
        posix_spawn_file_actions_adddup2(&actions, fromProgram[0], 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // What the test's thread has blocked must not reach the program.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // A test run in the background ignores some signals, and a program would inherit that.
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let words = ([name] + arguments).map { strdup($0) } + [nil]
        let variables = merged.map { strdup("\($0)=\($1)") } + [nil]
        defer { (words + variables).forEach { free($0) } }
        var identifier: pid_t = 0
        let failure = posix_spawn(&identifier, Self.find(name), &actions, &attributes, words, variables)
        close(toProgram[0])
        close(fromProgram[0])
        self.identifier = identifier
        input = Mutex(toProgram[1])
        guard failure == 0 else { throw Overdue(description: "\(name): \(String(cString: strerror(failure)))") }
        let reader = fromProgram[1]
        Thread.detachNewThread { [self] in collect(reader) }
    }

    /// The folder in which this build put its programs.
    public static var buildFolder: String {
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "."
        return URL(fileURLWithPath: executable).deletingLastPathComponent().path
    }

    /// Everything it has printed so far, standard error included.
    public var printed: String { output.withLock { $0.text } }

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

    private func collect(_ descriptor: Int32) {
        var bytes = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { break }
            output.withLock { $0.text += String(decoding: bytes.prefix(count), as: UTF8.self) }
        }
        output.withLock { $0.isComplete = true }
        close(descriptor)
    }

    private static func find(_ name: String) -> String {
        guard !name.contains("/") else { return name }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin", "/usr/bin"]
        return folders.map { $0 + "/" + name }.first { FileManager.default.isExecutableFile(atPath: $0) } ?? name
    }
}
