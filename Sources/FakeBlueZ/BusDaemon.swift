public import EventLoop
import Glibc

/// A `dbus-daemon` that belongs to the simulator: in a temporary folder, and ended with it.
@LoopActor
public final class BusDaemon {
    /// What goes into `DBUS_SYSTEM_BUS_ADDRESS`.
    public let address: String
    private let folder: String
    private let process: pid_t

    /// Starts a bus and waits until it listens.
    ///
    /// - Throws: ``BusDaemonError`` with a sentence, when there is no `dbus-daemon` or it does not start.
    public static func start() async throws(BusDaemonError) -> BusDaemon {
        let folder = try makeFolder()
        let address = "unix:path=\(folder)/bus"
        guard write(configuration(address), to: folder + "/bus.conf") else {
            throw BusDaemonError(description: "cannot write to \(folder)")
        }
        var pipe: [CInt] = [0, 0]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pipe) == 0 else {
            throw BusDaemonError(description: "no descriptors for a bus")
        }
        let process = spawn(configuration: folder + "/bus.conf", printingTo: pipe[1])
        close(pipe[1])
        let isListening = await readable(pipe[0])
        close(pipe[0])
        guard let process, isListening else {
            remove(folder)
            throw BusDaemonError(description: "dbus-daemon does not start; it is in Debian's package dbus-daemon")
        }
        return BusDaemon(address: address, folder: folder, process: process)
    }

    private init(address: String, folder: String, process: pid_t) {
        self.address = address
        self.folder = folder
        self.process = process
    }

    /// Ends the bus and removes its folder.
    public func stop() {
        kill(process, SIGTERM)
        waitpid(process, nil, 0)
        Self.remove(folder)
    }

    private static func makeFolder() throws(BusDaemonError) -> String {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array((parent + "/jacquard-simulator-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw BusDaemonError(description: "cannot make a folder in \(parent)") }
        return String(decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }

    private static func remove(_ folder: String) {
        for name in ["/bus.conf", "/bus"] { unlink(folder + name) }
        rmdir(folder)
    }

    private static func configuration(_ address: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
          "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig><type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
        <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
        <allow own="*"/></policy></busconfig>
        """
    }

    private static func write(_ text: String, to path: String) -> Bool {
        guard let file = fopen(path, "we") else { return false }
        let isWritten = fputs(text, file) >= 0
        return fclose(file) == 0 && isWritten
    }

    /// - Returns: whether something has come; false when the other end was closed instead.
    private static func readable(_ descriptor: CInt) async -> Bool {
        var source: DescriptorSource?
        defer { source?.cancel() }
        await withCheckedContinuation { continuation in
            source = try? DescriptorSource(descriptor, for: .readable) { _ in
                source?.cancel()
                continuation.resume()
            }
        }
        var byte: UInt8 = 0
        return read(descriptor, &byte, 1) == 1
    }

    private static func spawn(configuration: String, printingTo descriptor: CInt) -> pid_t? {
        let addressDescriptor: CInt = 3
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, descriptor, addressDescriptor)
        // What the simulator prints is its own; the bus warns of limits that a private one does not need.
        for output in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The signals that the loop takes are blocked here and must not be there; and a Ctrl-C is for the simulator,
        // which ends the bus last.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        let texts = [
            "dbus-daemon", "--nofork", "--nopidfile", "--config-file=\(configuration)",
            "--print-address=\(addressDescriptor)",
        ]
        let words = texts.map { strdup($0) }
        defer { words.forEach { free($0) } }
        var process: pid_t = 0
        return posix_spawnp(&process, "dbus-daemon", &actions, &attributes, words + [nil], environ) == 0 ? process : nil
    }
}

/// A private bus that does not start: a sentence.
public struct BusDaemonError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence.
    public let description: String
}
