internal import CDBus
public import EventLoop

/// A call that somebody makes to one of our objects. It is answered once; an answer may come in a later turn.
@LoopActor
public final class DBusMethodCall {
    /// The call itself.
    public let message: DBusMessage
    private let connection: DBusConnection

    init(_ message: DBusMessage, on connection: DBusConnection) {
        self.message = message
        self.connection = connection
    }

    /// Answers it.
    public func reply(_ arguments: [DBusValue] = []) {
        guard !message.wantsNoReply else { return }
        connection.send(message.reply(arguments))
    }

    /// Refuses it.
    public func refuse(_ name: String, _ text: String) {
        guard !message.wantsNoReply else { return }
        connection.send(message.refusal(name, text))
    }
}

extension DBusConnection {
    /// Serves an object and all below it.
    ///
    /// - Parameters:
    ///   - path: of the object; the most specific one that is served gets a call.
    ///   - handler: answers each call, now or later; nil ends the service.
    public func serve(_ path: String, handler: (@LoopActor (DBusMethodCall) -> Void)?) {
        objects[path] = handler
    }

    /// Asks for a well-known name.
    ///
    /// - Throws: ``DBusError`` when the bus refuses it or somebody else owns it.
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

    /// Gives a well-known name back.
    public func releaseName(_ name: String) {
        call(.call(to: Self.bus, "/org/freedesktop/DBus", Self.bus, "ReleaseName", [.string(name)])) { _ in }
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
