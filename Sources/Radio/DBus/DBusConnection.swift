internal import CDBus
public import EventLoop
public import Logging

/// A private connection to a bus, driven by the event loop.
///
/// No operation blocks, and every call has a deadline. When the connection ends, all pending calls fail with
/// ``DBusError/disconnected`` and ``onDisconnect`` is called once. The object cannot be used afterwards.
@LoopActor
public final class DBusConnection {
    /// Called once when the connection has ended.
    public var onDisconnect: (@LoopActor () -> Void)?

    let pointer: OpaquePointer
    let log: Logger
    private let watches = DBusWatches()
    private let calls = PendingCalls()
    /// Calls that are sent as soon as others are answered, in order.
    private var waitingCalls: [WaitingCall] = []
    let signals = SignalTable()
    var objects: [String: @LoopActor (DBusMethodCall) -> Void] = [:]
    private let connection: NewConnection
    private var isOpen = true
    private var isDispatchDue = false

    /// Connects to a bus and registers with it (`Hello`).
    ///
    /// - Parameters:
    ///   - address: the bus address, such as `unix:path=/run/dbus/system_bus_socket`.
    ///   - limit: the time limit of the connection, and of the registration.
    ///   - log: the logger.
    /// - Returns: a connection that has its unique name.
    /// - Throws: ``DBusError`` with code `disconnected` if the bus does not accept the connection or refuses it.
    public static func open(
        _ address: String, within limit: Duration = .seconds(10), log: Logger
    ) async throws(DBusError) -> DBusConnection {
        let connection = DBusConnection(try await PendingOpening().connection(to: address, within: limit), log: log)
        let name = try await connection.call(
            .call(to: DBusConnection.bus, "/org/freedesktop/DBus", DBusConnection.bus, "Hello"), within: limit)
        guard let name = name.arguments.first?.text else { throw .malformed("Hello is answered without a name") }
        dbus_bus_set_unique_name(connection.pointer, name)
        return connection
    }

    static let bus = "org.freedesktop.DBus"
    /// Upper bound on the bytes of messages that were received and not handled yet.
    static let mostReceivedBytes = 16 << 20
    /// Upper bound on the bytes of a message. libdbus closes the connection at the header of a longer one. BlueZ's objects with
    /// 4,096 devices take about a third.
    static let mostMessageBytes = 16 << 20
    /// Upper bound on the descriptors that came with such messages.
    static let mostReceivedDescriptors = 64
    /// Upper bound on the bytes that wait for the bus to read them. A working bus stays far below it.
    static let mostWaitingBytes = 1 << 20
    /// Upper bound on calls without a reply. Further ones wait. dbus-daemon refuses a call when the caller waits for 128 replies.
    static let mostPendingCalls = 100
    /// Upper bound on the calls that wait for others to be answered.
    static let mostWaitingCalls = 4_096

    /// Whether descriptors can be passed over this connection. They cannot pass through a program such as `ssh`.
    public var passesDescriptors: Bool { dbus_connection_can_send_type(pointer, CInt(UInt8(ascii: "h"))) != 0 }

    /// The unique name of this connection.
    var uniqueName: String { DBusMessage.text(dbus_bus_get_unique_name(pointer)) }

    /// - Parameters:
    ///   - connection: a new connection, which this object owns.
    ///   - log: the logger.
    private init(_ connection: NewConnection, log: Logger) {
        pointer = connection.pointer
        self.connection = connection
        self.log = log
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        // libdbus stops reading at these, and goes on when messages have been handled.
        dbus_connection_set_max_received_size(pointer, Self.mostReceivedBytes)
        dbus_connection_set_max_message_size(pointer, Self.mostMessageBytes)
        dbus_connection_set_max_received_unix_fds(pointer, Self.mostReceivedDescriptors)
        watches.onServed = { [weak self] in self?.dispatch() }
        calls.onExpiry = { [weak self] in self?.log.debug("a call on the bus has timed out", [(.member, $0)]) }
        calls.onEnd = { [weak self] in self?.sendWaitingCalls() }
        Self.attach(pointer, to: Unmanaged.passUnretained(self).toOpaque())
    }

    /// Belongs to no actor, and so do the callbacks that are written down in it.
    private nonisolated static func attach(_ pointer: OpaquePointer, to context: UnsafeMutableRawPointer) {
        dbus_connection_set_watch_functions(
            pointer,
            { watch, context in
                guard let watch, let context else { return 0 }
                return LoopActor.assumeIsolated((context, watch)) { owner($0).watches.add($1) ? 1 : 0 }
            },
            { watch, context in
                guard let watch, let context else { return }
                LoopActor.assumeIsolated((context, watch)) { owner($0).watches.remove($1) }
            },
            { _, context in
                guard let context else { return }
                LoopActor.assumeIsolated(context) { owner($0).watches.update() }
            }, context, nil)
        dbus_connection_set_dispatch_status_function(
            pointer,
            { _, status, context in
                guard let context, status == DBUS_DISPATCH_DATA_REMAINS else { return }
                LoopActor.assumeIsolated(context) { owner($0).dispatchLater() }
            }, context, nil)
        dbus_connection_add_filter(
            pointer,
            { _, message, context in
                guard let message, let context else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
                return LoopActor.assumeIsolated((context, message)) { owner($0).handle(DBusMessage(borrowing: $1)) }
            }, context, nil)
    }

    // MARK: Sending

    /// Sends a message without waiting for a reply.
    ///
    /// The message is dropped while too many bytes wait for the bus.
    public func send(_ message: DBusMessage) {
        guard hasRoom else { return }
        // libdbus refuses only if memory is exhausted. The peer's call then times out.
        dbus_connection_send(pointer, message.pointer, nil)
    }

    /// Calls a method. While many calls wait for their replies, it is sent later.
    ///
    /// - Parameters:
    ///   - message: the call.
    ///   - limit: the timeout of the reply, from the time when the call is sent.
    ///   - completion: called once, in a later turn, with the reply or the error.
    public func call(
        _ message: DBusMessage, within limit: Duration = .seconds(30),
        completion: @escaping @LoopActor (Result<DBusMessage, DBusError>) -> Void
    ) {
        guard waitingCalls.isEmpty, calls.count < Self.mostPendingCalls else {
            guard waitingCalls.count < Self.mostWaitingCalls else {
                EventLoop.shared.atEndOfTurn { completion(.failure(.congested)) }
                return
            }
            return waitingCalls.append(WaitingCall(message: message, limit: limit, completion: completion))
        }
        sendCall(message, within: limit, completion)
    }

    private func sendWaitingCalls() {
        guard !waitingCalls.isEmpty else { return }
        let room = Self.mostPendingCalls - calls.count
        guard room > 0 else { return }
        let due = waitingCalls.prefix(room)
        waitingCalls.removeFirst(due.count)
        if waitingCalls.isEmpty { waitingCalls = [] }
        for call in due { sendCall(call.message, within: call.limit, call.completion) }
    }

    private func sendCall(
        _ message: DBusMessage, within limit: Duration, _ completion: @escaping PendingCalls.Completion
    ) {
        var serial: dbus_uint32_t = 0
        guard hasRoom else {
            EventLoop.shared.atEndOfTurn { completion(.failure(.congested)) }
            return
        }
        guard isOpen, dbus_connection_send(pointer, message.pointer, &serial) != 0 else {
            EventLoop.shared.atEndOfTurn { completion(.failure(.disconnected)) }
            return
        }
        calls.add(serial, message, within: limit, completion)
    }

    private var hasRoom: Bool { dbus_connection_get_outgoing_size(pointer) < Self.mostWaitingBytes }

    /// Calls a method and waits for the reply.
    ///
    /// - Throws: the peer's error, ``DBusError/Code/timeout`` or ``DBusError/disconnected``.
    public func call(
        _ message: DBusMessage, within limit: Duration = .seconds(30)
    ) async throws(DBusError) -> DBusMessage {
        let result = await withCheckedContinuation { continuation in
            call(message, within: limit) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Closes the connection. Pending calls fail.
    public func close() {
        guard isOpen else { return }
        onDisconnect = nil
        end()
    }

    // MARK: Receiving

    /// Schedules a dispatch, unless one is scheduled already.
    private func dispatchLater() {
        guard !isDispatchDue, !watches.isServing else { return }
        isDispatchDue = true
        EventLoop.shared.atEndOfTurn { [weak self] in self?.dispatch() }
    }

    /// Dispatches received messages. Called by the loop, never from a callback of libdbus.
    private func dispatch() {
        // libdbus reports more messages after each one. This loop dispatches them.
        isDispatchDue = true
        while isOpen, dbus_connection_dispatch(pointer) == DBUS_DISPATCH_DATA_REMAINS {}
        isDispatchDue = false
    }

    private func handle(_ message: DBusMessage) -> DBusHandlerResult {
        switch message.kind {
        case .reply: calls.end(dbus_message_get_reply_serial(message.pointer), .success(message))
        case .error: calls.end(dbus_message_get_reply_serial(message.pointer), .failure(message.error))
        case .signal where message.isNamed("org.freedesktop.DBus.Local", "Disconnected"): end()
        case .signal: signals.deliver(message)
        case .call: return receive(message)
        case nil: break
        }
        return DBUS_HANDLER_RESULT_HANDLED
    }

    private func end() {
        guard isOpen else { return }
        isOpen = false
        // Deferred, because a callback of libdbus may call this method.
        EventLoop.shared.atEndOfTurn { [self] in
            connection.close()
            watches.cancel()
            let waiting = waitingCalls
            waitingCalls = []
            calls.failAll(.disconnected)
            for call in waiting { call.completion(.failure(.disconnected)) }
            onDisconnect?()
        }
    }

    isolated deinit {
        if isOpen { connection.close() }
        dbus_connection_set_watch_functions(pointer, nil, nil, nil, nil, nil)
        dbus_connection_set_dispatch_status_function(pointer, nil, nil, nil)
        dbus_connection_unref(pointer)
    }
}

/// A call that is sent when others are answered.
private struct WaitingCall {
    let message: DBusMessage
    let limit: Duration
    let completion: PendingCalls.Completion
}

/// The object behind a callback's context. It detaches from libdbus in `deinit`, so it exists.
@LoopActor
private func owner(_ context: UnsafeMutableRawPointer) -> DBusConnection {
    Unmanaged<DBusConnection>.fromOpaque(context).takeUnretainedValue()
}
