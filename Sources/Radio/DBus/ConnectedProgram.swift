internal import CDBus
internal import EventLoop
internal import Glibc

/// A program that passes the messages of a connection on, such as `ssh`.
///
/// libdbus would start it with all signals blocked, and never wait for its end. So the bridge starts it, and libdbus connects to a
/// socket between them.
struct ConnectedProgram: Sendable {
    private let process: Int32

    /// How long the program may take to end after its connection.
    private static let patience = Duration.seconds(2)

    /// Starts a program, and connects to it. Blocks: for the helper thread.
    static func open(_ program: BusProgram) throws(DBusError) -> NewConnection {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw .unavailable(String(cString: strerror(errno))) }
        defer { close(listener) }
        let pointer = try NewConnection.connect(to: "unix:abstract=" + name(of: listener))
        do throws(DBusError) {
            let descriptor = try ownConnection(at: listener)
            defer { close(descriptor) }
            let process = try start(program, descriptor)
            return NewConnection(pointer: pointer, program: ConnectedProgram(process: process))
        } catch {
            dbus_connection_close(pointer)
            dbus_connection_unref(pointer)
            throw error
        }
    }

    private static func start(_ program: BusProgram, _ descriptor: Int32) throws(DBusError) -> Int32 {
        do throws(SystemError) {
            return try Subprocess.spawn(
                program.path, program.arguments,
                descriptors: [STDIN_FILENO: descriptor, STDOUT_FILENO: descriptor, STDERR_FILENO: STDERR_FILENO])
        } catch {
            throw .unavailable("\(error)")
        }
    }

    /// Lets a socket listen under a name of the kernel. Source: unix(7), "Autobind feature".
    private static func name(of listener: Int32) throws(DBusError) -> String {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let offset = MemoryLayout<sa_family_t>.size
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(listener, generic, socklen_t(offset)) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, generic, &length) == 0
            }
        }
        guard isListening, Int(length) > offset + 1 else { throw .unavailable(String(cString: strerror(errno))) }
        // The name follows a zero byte, and has five hexadecimal digits.
        return withUnsafeBytes(of: &address) { bytes in
            String(decoding: bytes[(offset + 1)..<Int(length)], as: UTF8.self)
        }
    }

    /// Accepts the connection of this process. Another one may have connected before it.
    private static func ownConnection(at listener: Int32) throws(DBusError) -> Int32 {
        for _ in 0..<64 {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { break }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            var peer: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
            var size = socklen_t(MemoryLayout.size(ofValue: peer))
            if getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0, peer.process == getpid() {
                return descriptor
            }
            close(descriptor)
        }
        throw .unavailable("the connection to the program was not made: \(String(cString: strerror(errno)))")
    }

    /// Ends the program, whose connection is closed: waits for it, and kills it if it takes too long.
    @LoopActor
    func end() {
        let process = self.process
        EventLoop.shared.begin {
            await HelperThread.shared.run(.programs) { Subprocess.end(process, within: Self.patience) }
        }
    }
}

extension BusProgram {
    /// Reads an address such as ``address``; nil for the address of a socket.
    ///
    /// - Throws: ``DBusError`` for an address that libdbus cannot read.
    init?(address: String) throws(DBusError) {
        guard address.hasPrefix("unixexec:") else { return nil }
        var (entries, count, error): (UnsafeMutablePointer<OpaquePointer?>?, CInt, CDBus.DBusError) = (nil, 0, .init())
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        guard dbus_parse_address(address, &entries, &count, &error) != 0, let entries else { throw DBusError(error) }
        defer { dbus_address_entries_free(entries) }
        func value(_ key: String) -> String? {
            dbus_address_entry_get_value(entries[0], key).map { String(cString: $0) }
        }
        var arguments: [String] = []
        while let argument = value("argv\(arguments.count + 1)") { arguments.append(argument) }
        self.init(path: value("path") ?? "", arguments: arguments)
    }
}
