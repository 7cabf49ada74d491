internal import CSystemd
internal import Glibc
import Time

/// Runs a program and reads its output.
public enum Subprocess {
    /// Runs a program without input. Blocks, so it must be called on the helper thread.
    ///
    /// - Parameters:
    ///   - name: searched in `PATH`.
    ///   - arguments: the arguments after the program's name.
    ///   - limit: the time limit, after which the program is killed.
    /// - Returns: its standard output without trailing newlines, at most 64 KiB; nil if it could not be started, was killed or
    ///   failed.
    public static func output(of name: String, _ arguments: [String], within limit: Duration) -> String? {
        var ends: [Int32] = [-1, -1]
        // A socket pair can be created with close-on-exec in one step.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            return nil
        }
        defer { close(ends[0]) }
        let process = start(name, arguments, output: ends[1])
        close(ends[1])
        guard let process else { return nil }
        let text = read(ends[0], until: .now + limit)
        if text == nil { kill(process, SIGKILL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status == 0 ? text : nil
    }

    private static func start(_ name: String, _ arguments: [String], output: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The helper thread blocks all signals; a child would inherit that.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        // The caller owns the copies; the new process has its own after `posix_spawnp`.
        let words = ([name] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var process = pid_t()
        return posix_spawnp(&process, name, &actions, &attributes, words, process_environment()) == 0 ? process : nil
    }

    /// Reads up to the end of the stream; returns nil at the deadline.
    private static func read(_ descriptor: Int32, until deadline: Instant) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count < 65_536 {
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let wait = (deadline - .now).milliseconds
            guard wait > 0, poll(&request, 1, Int32(clamping: wait)) > 0 else { return nil }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += buffer.prefix(count)
        }
        while bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HelperThread.Concern {
    /// Programs that run for their output.
    public static let programs = HelperThread.Concern("programs")
}
