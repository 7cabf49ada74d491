internal import CDBus
internal import EventLoop

/// A connection that libdbus has made and nothing uses yet.
struct NewConnection: Sendable {
    /// `nonisolated(unsafe)`: only one thread uses it at a time, first the helper thread and then the loop.
    nonisolated(unsafe) let pointer: OpaquePointer
    /// The program that passes the messages on; nil for a socket of a bus.
    var program: ConnectedProgram?

    /// Connects to a bus. Blocks: `connect` waits while a bus that hangs has a full backlog, and an address can name a host
    /// or a program.
    static func open(_ address: String) -> Result<NewConnection, DBusError> {
        Result { () throws(DBusError) in
            if let program = try BusProgram(address: address) { return try ConnectedProgram.open(program) }
            return NewConnection(pointer: try connect(to: address))
        }
    }

    /// Connects to the socket of a bus.
    static func connect(to address: String) throws(DBusError) -> OpaquePointer {
        var error = CDBus.DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        guard let pointer = dbus_connection_open_private(address, &error) else { throw DBusError(error) }
        return pointer
    }

    /// Closes the connection, and ends its program.
    @LoopActor
    func close() {
        dbus_connection_close(pointer)
        program?.end()
    }
}

/// A connection that is being made on the helper thread, with a time limit.
@LoopActor
final class PendingOpening {
    private var waiting: CheckedContinuation<Result<NewConnection, DBusError>, Never>?
    private lazy var timer = LoopTimer { [unowned self] in
        end(.failure(.unavailable("the bus has not accepted the connection in time")))
    }

    /// Connects to a bus.
    func connection(to address: String, within limit: Duration) async throws(DBusError) -> NewConnection {
        let result = await withCheckedContinuation { continuation in
            waiting = continuation
            timer.arm(after: limit)
            // Not awaited: it may take longer than the limit.
            EventLoop.shared.begin { self.end(await Self.opened(address)) }
        }
        return try result.get()
    }

    private func end(_ result: Result<NewConnection, DBusError>) {
        timer.disarm()
        guard let waiting else {
            guard case .success(let connection) = result else { return }
            connection.close()
            dbus_connection_unref(connection.pointer)
            return
        }
        self.waiting = nil
        waiting.resume(returning: result)
    }

    private static func opened(_ address: String) async -> Result<NewConnection, DBusError> {
        let refusal = DBusError.unavailable("earlier attempts to connect have not ended yet")
        return await HelperThread.shared.run(.bus(address), orIfFull: .failure(refusal)) { NewConnection.open(address) }
    }
}

extension DBusError {
    /// The error of a connection that cannot be made.
    init(_ error: CDBus.DBusError) {
        self.init(.disconnected, name: DBusMessage.text(error.name), text: DBusMessage.text(error.message))
    }

    static func unavailable(_ text: String) -> DBusError {
        DBusError(.disconnected, name: "org.freedesktop.DBus.Error.NoServer", text: text)
    }
}

extension HelperThread.Concern {
    /// Connecting to a bus. One that hangs does not delay another one.
    fileprivate static func bus(_ address: String) -> HelperThread.Concern { HelperThread.Concern("bus " + address) }
}
