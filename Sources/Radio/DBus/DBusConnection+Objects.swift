internal import CDBus
public import EventLoop

/// A call from a peer to an object of this process. Reply to it exactly once, now or in a later turn.
@LoopActor
public final class DBusMethodCall {
    /// The call's message.
    public let message: DBusMessage
    private let connection: DBusConnection

    init(_ message: DBusMessage, on connection: DBusConnection) {
        self.message = message
        self.connection = connection
    }

    /// Replies with a result.
    public func reply(_ arguments: [DBusValue] = []) {
        guard !message.wantsNoReply else { return }
        connection.send(message.reply(arguments))
    }

    /// Replies with an error.
    public func refuse(_ name: String, _ text: String) {
        guard !message.wantsNoReply else { return }
        connection.send(message.refusal(name, text))
    }
}

extension DBusConnection {
    /// Serves an object and all below it.
    ///
    /// - Parameters:
    ///   - path: the object's path. A call goes to the handler with the longest matching path.
    ///   - handler: replies to each call, now or later; nil removes the handler.
    public func serve(_ path: String, handler: (@LoopActor (DBusMethodCall) -> Void)?) {
        objects[path] = handler
    }

    /// Requests a well-known name.
    ///
    /// - Throws: ``DBusError`` if the bus refuses the name or another connection owns it.
    public func requestName(_ name: String) async throws(DBusError) {
        let doNotQueue: UInt32 = 4
        let reply = try await call(
            .call(
                to: Self.bus, "/org/freedesktop/DBus", Self.bus, "RequestName", [.string(name), .uint32(doNotQueue)]))
        guard reply.arguments.first?.integer == 1 else {
            throw DBusError(
                .refused, name: "org.freedesktop.DBus.Error.AddressInUse", text: "somebody else owns \(name)")
        }
    }

    func receive(_ message: DBusMessage) -> DBusHandlerResult {
        let path = message.path
        let handler = objects.filter { $0.key == "/" || path == $0.key || path.hasPrefix($0.key + "/") }
            .max { $0.key.utf8.count < $1.key.utf8.count }?.value
        guard let handler else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
        handler(DBusMethodCall(message, on: self))
        return DBUS_HANDLER_RESULT_HANDLED
    }
}
