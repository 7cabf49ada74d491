public import EventLoop
import Foundation

/// A folder of a test's own; removed with it.
public final class ScratchFolder: Sendable {
    /// Absolute path.
    public let path: String

    /// Makes the folder.
    ///
    /// - Throws: when there is no room for it.
    public init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("j2m-" + UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// Writes a file into it and returns the file's path.
    public func write(_ name: String, _ text: String) throws -> String {
        let file = path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        return file
    }

    /// Writes a file of mosquitto's hashed passwords and returns its path.
    ///
    /// - Parameters:
    ///   - logins: passwords by user.
    ///   - name: of the file.
    /// - Returns: the path of the file.
    /// - Throws: ``Overdue`` when `mosquitto_passwd` does not end.
    @LoopActor
    public func writePasswords(_ logins: [String: String], name: String = "passwords") async throws -> String {
        let file = try write(name, logins.map { "\($0):\($1)\n" }.joined())
        let hashing = try Program("mosquitto_passwd", ["-U", file])
        try await until("the passwords") { hashing.hasEnded }
        // The broker gives up its rights before it reads its files.
        for path in [path, file] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        return file
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// A `dbus-daemon` for one test, on a socket in a folder of its own.
public final class PrivateBus: Sendable {
    /// The value of `DBUS_SYSTEM_BUS_ADDRESS`.
    public let address: String
    /// The daemon.
    public let daemon: Program
    private let folder: ScratchFolder

    /// Starts a bus and waits until it listens.
    ///
    /// - Parameter rules: further rules of its policy, such as `<deny send_destination="org.bluez"/>`.
    /// - Throws: ``Overdue`` when it does not listen in time.
    @LoopActor
    public init(rules: String = "") async throws {
        let folder = try ScratchFolder()
        self.folder = folder
        address = "unix:path=\(folder.path)/bus"
        // On a busy machine a client needs longer to authenticate than a bus allows by default; sessions' buses have the same.
        let configuration = try folder.write(
            "bus.conf",
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
              "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
            <allow own="*"/>\(rules)</policy><limit name="auth_timeout">240000</limit></busconfig>
            """)
        daemon = try Program("dbus-daemon", ["--nofork", "--nopidfile", "--config-file=\(configuration)"])
        try await until("the bus listens") { Self.listens(at: folder.path + "/bus") }
    }

    /// Starts another bus at the address of this one, which was killed, and waits until it listens.
    ///
    /// - Throws: ``Overdue`` when it does not listen in time.
    @LoopActor
    public func startAgain() async throws -> Program {
        unlink(folder.path + "/bus")
        let next = try Program(
            "dbus-daemon", ["--nofork", "--nopidfile", "--config-file=\(folder.path)/bus.conf"])
        try await until("the bus listens again") { Self.listens(at: folder.path + "/bus") }
        return next
    }

    /// The socket's file exists shortly before the server listens on it.
    private static func listens(at path: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    deinit {
        daemon.stop()
    }
}

/// A mosquitto for one test, on a port of its own of the loopback interface.
public final class PrivateBroker: Sendable {
    /// Its address; another one can come back there when this one has gone.
    public let place: ReservedPort
    /// The broker.
    public let daemon: Program
    private let folder: ScratchFolder

    /// Its port on 127.0.0.1.
    public var port: UInt16 { place.number }

    /// Starts a broker and waits until it listens.
    ///
    /// - Parameters:
    ///   - options: further lines of mosquitto.conf.
    ///   - place: that of a broker that has gone; nil takes a new one.
    /// - Throws: ``Overdue`` when it does not listen in time.
    @LoopActor
    public init(options: [String] = [], at place: ReservedPort? = nil) async throws {
        let folder = try ScratchFolder()
        self.folder = folder
        let place = try place ?? ReservedPort()
        self.place = place
        let lines =
            [
                "listener \(place.number) 127.0.0.1", "allow_anonymous true", "persistence false",
                "max_queued_messages 100000",
            ] + options
        let configuration = try folder.write("mosquitto.conf", lines.joined(separator: "\n") + "\n")
        daemon = try Program("mosquitto", ["-c", configuration])
        try await until("the broker listens") { Loopback.isServed(place.number) }
    }

    deinit {
        daemon.stop()
    }
}
