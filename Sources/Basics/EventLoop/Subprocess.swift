internal import CSystemd
internal import Glibc
import Time

/// Starts other programs.
public enum Subprocess {
    /// Runs a program without input. Blocks, so it must be called on the helper thread.
    ///
    /// - Parameters:
    ///   - name: searched in `PATH`.
    ///   - arguments: the arguments after the program's name.
    ///   - limit: the time limit, after which the program is killed.
    /// - Returns: its standard output without trailing newlines, of more than 64 KiB the last lines; nil if it could not be
    ///   started, was killed or failed.
    public static func output(of name: String, _ arguments: [String], within limit: Duration) -> String? {
        let run = run(name, arguments, STDOUT_FILENO, within: limit)
        return run.status == 0 ? run.text : nil
    }

    /// How a program ended.
    public struct Ending: Hashable, Sendable {
        /// The exit status; nil if the program could not be started, or was killed.
        public var status: Int32?
        /// Its standard error; empty if it was killed at its time limit.
        public var errors: String

        /// Creates an ending.
        public init(status: Int32?, errors: String) {
            self.status = status
            self.errors = errors
        }
    }

    /// Runs a program without input for its standard error. Blocks, so it must be called on the helper thread.
    public static func ending(of name: String, _ arguments: [String], within limit: Duration) -> Ending {
        let run = run(name, arguments, STDERR_FILENO, within: limit)
        return Ending(status: run.status, errors: run.text ?? "")
    }

    /// Runs a program and reads one of its outputs.
    ///
    /// - Returns: the exit status and the output; nil for each that does not exist.
    private static func run(
        _ name: String, _ arguments: [String], _ output: Int32, within limit: Duration
    ) -> (status: Int32?, text: String?) {
        var ends: [Int32] = [-1, -1]
        // A socket pair can be created with close-on-exec in one step.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            return (nil, nil)
        }
        let process = try? spawn(name, arguments, descriptors: [output: ends[1]])
        close(ends[1])
        let deadline = Instant.now + limit
        let text = process == nil ? nil : read(ends[0], until: deadline)
        // Before the wait: a program that is still writing could not end.
        close(ends[0])
        guard let process else { return (nil, nil) }
        return (end(process, by: text == nil ? .now : deadline), text)
    }

    /// Waits for the end of a started program, and kills it after a time. Blocks, so it must be called on the helper thread.
    public static func end(_ process: Int32, within limit: Duration) {
        _ = end(process, by: .now + limit)
    }

    /// Waits for the end of a program, and kills it at the deadline. It may have closed its output long before its end.
    ///
    /// - Returns: its exit status; nil if it was killed.
    private static func end(_ process: Int32, by deadline: Instant) -> Int32? {
        var status: Int32 = 0
        while true {
            let isOverdue = .now >= deadline
            if isOverdue { kill(process, SIGKILL) }
            switch waitpid(process, &status, isOverdue ? 0 : WNOHANG) {
            // The lower seven bits are the signal. Source: wait(2).
            case process: return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
            // Almost always, it has ended with its output.
            case 0: poll(nil, 0, 1)
            default: guard errno == EINTR else { return nil }
            }
        }
    }

    /// Starts a program. It inherits no blocked or ignored signal, and of the descriptors only those that are given.
    ///
    /// - Parameters:
    ///   - program: a path, or a name that is searched in `PATH`.
    ///   - arguments: the arguments after the program's name.
    ///   - environment: its variables as `NAME=value`; nil: those of this process.
    ///   - descriptors: the descriptors of this process by the number that they get; 0, 1 and 2 are `/dev/null` if not given.
    ///   - hasOwnGroup: whether it is in a process group of its own, so that Ctrl-C does not end it.
    /// - Returns: its process id. The caller has to call `waitpid`.
    /// - Throws: ``SystemError`` if it could not be started.
    public static func spawn(
        _ program: String, _ arguments: [String], environment: [String]? = nil, descriptors: [Int32: Int32] = [:],
        hasOwnGroup: Bool = false
    ) throws(SystemError) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where descriptors[number] == nil {
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        }
        for (number, own) in descriptors { posix_spawn_file_actions_adddup2(&actions, own, number) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The loop blocks the signals that it receives, and a shell ignores some for a background process; a child would
        // inherit both.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        let signals = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(hasOwnGroup ? signals | POSIX_SPAWN_SETPGROUP : signals))
        // The caller owns the copies; the new process has its own after `posix_spawnp`.
        let words = ([program] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { $0.map { strdup($0) } + [nil] }
        defer { (words + (variables ?? [])).forEach { free($0) } }
        var process = pid_t()
        let status =
            if let variables {
                posix_spawnp(&process, program, &actions, &attributes, words, variables)
            } else {
                posix_spawnp(&process, program, &actions, &attributes, words, process_environment())
            }
        guard status == 0 else { throw SystemError(number: status, action: "start \(program)") }
        return process
    }

    /// Upper bound on the output that is kept, in bytes.
    private static let mostOutput = 65_536

    /// Reads up to the end of the stream and keeps the last lines; returns nil at the deadline.
    private static func read(_ descriptor: Int32, until deadline: Instant) -> String? {
        var bytes: [UInt8] = []
        var isCut = false
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let wait = (deadline - .now).milliseconds
            guard wait > 0 else { return nil }
            let ready = poll(&request, 1, Int32(clamping: wait))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return nil }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += buffer.prefix(count)
            // Twice the bound, so that few bytes are moved.
            guard bytes.count > 2 * mostOutput else { continue }
            bytes.removeFirst(bytes.count - mostOutput)
            isCut = true
        }
        if bytes.count > mostOutput {
            bytes.removeFirst(bytes.count - mostOutput)
            isCut = true
        }
        while bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if isCut, let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { bytes.removeFirst(end + 1) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HelperThread.Concern {
    /// Programs that run for their output.
    public static let programs = HelperThread.Concern("programs")
}

/// The memory of the process.
public enum ProcessMemory {
    /// Gives unused memory of the heap back to the system.
    ///
    /// The C library does so only at the end of the heap: after a burst, one small allocation behind the released queues
    /// would keep megabytes. Takes about 0.2 ms.
    public static func release() {
        malloc_trim(0)
    }
}
