import EventLoop
import FoundationEssentials
import Glibc

/// Plays a simulation in a process that depends on nothing but its arguments: it has an empty folder and no variables that
/// describe the machine or its user.
struct Enclosure {
    /// The variable that names the folder.
    static let variable = "SIMULATION_FOLDER"
    /// The exit status of a run that has to be repeated with its history.
    static let repeats: Int32 = 3
    /// Free space that a folder needs, in bytes.
    private static let room: UInt64 = 64 << 20
    /// Variables that the process inherits: those of the dynamic linker, of sanitizers and of Tests/mutate.
    private static let inherited = ["LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS", "ACTIVE_MUTANT"]

    private let folder: String
    private let seed: UInt64

    /// Creates the folder, in memory if there is room.
    ///
    /// - Returns: nil if it cannot be created; the cause is printed.
    init?(seed: UInt64) {
        self.seed = seed
        for base in ["/dev/shm", "/tmp"] {
            var status = statvfs()
            guard statvfs(base, &status) == 0 else {
                Self.complain("seed \(seed): \(base): \(String(cString: strerror(errno)))")
                continue
            }
            let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
            guard free >= Self.room else {
                Self.complain("seed \(seed): \(base): \(free >> 20) MiB are free, and \(Self.room >> 20) are needed")
                continue
            }
            var name = Array("\(base)/simulate-XXXXXX".utf8CString)
            if mkdtemp(&name) != nil {
                folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
                return
            }
            Self.complain("seed \(seed): no folder in \(base): \(String(cString: strerror(errno)))")
        }
        return nil
    }

    /// Plays, and plays again with the history if something is violated. Removes the folder in the end.
    ///
    /// - Returns: the exit status.
    func play(_ arguments: [String]) -> Int32 {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // The signals that end this process end the other one first, so that the folder is removed.
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGCHLD, SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        sigprocmask(SIG_BLOCK, &signals, nil)
        let first = run(arguments, until: signals)
        guard first == Self.repeats else { return first }
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for file in files { try? FileManager.default.removeItem(atPath: "\(folder)/\(file)") }
        let second = run(arguments + ["--history"], until: signals)
        guard second == 0 else { return second }
        Self.complain("seed \(seed): the second run does not repeat the violation of the first one")
        return 1
    }

    /// Runs the process once.
    ///
    /// - Returns: the exit status, or 128 and the number of the signal that has ended it.
    private func run(_ arguments: [String], until signals: sigset_t) -> Int32 {
        let variables =
            ["\(Self.variable)=\(folder)", "SWIFT_DETERMINISTIC_HASHING=1"]
            + Self.inherited.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
        let descriptors = [STDOUT_FILENO: STDOUT_FILENO, STDERR_FILENO: STDERR_FILENO]
        let process: Int32
        do {
            process = try Subprocess.spawn(
                "/proc/self/exe", arguments, environment: variables, descriptors: descriptors)
        } catch {
            Self.complain("seed \(seed): \(error)")
            return 1
        }
        var (status, signals, signal): (Int32, sigset_t, Int32) = (0, signals, 0)
        while waitpid(process, &status, WNOHANG) == 0 {
            sigwait(&signals, &signal)
            if signal != SIGCHLD { kill(process, SIGKILL) }
        }
        let ended = status & 0x7F
        guard ended != 0 else { return (status >> 8) & 0xFF }
        Self.complain("seed \(seed): ended by signal \(ended): \(String(cString: strsignal(ended)))")
        return 128 + ended
    }

    static func complain(_ text: String) {
        let line = Array("simulate: \(text)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}
