public import EventLoop
import Glibc

/// A `dbus-daemon` that belongs to the simulator: in a temporary folder, and ended with it.
@LoopActor
public final class BusDaemon {
    /// The value of `DBUS_SYSTEM_BUS_ADDRESS`.
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
        let addressDescriptor: CInt = 3
        // Its warnings about limits are hidden: a private bus does not need these limits. A Ctrl-C is for the simulator, which
        // stops the bus last.
        let process = try? Subprocess.spawn(
            "dbus-daemon",
            [
                "--nofork", "--nopidfile", "--config-file=\(folder)/bus.conf", "--print-address=\(addressDescriptor)",
            ], descriptors: [addressDescriptor: pipe[1]], hasOwnGroup: true)
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

    /// On a busy machine a client needs longer to authenticate than a bus allows by default; sessions' buses have the same.
    private static func configuration(_ address: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
          "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig><type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
        <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
        <allow own="*"/></policy><limit name="auth_timeout">240000</limit></busconfig>
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
}

/// A private bus that does not start: a sentence.
public struct BusDaemonError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence.
    public let description: String
}
