internal import CDBus
public import EventLoop
internal import Glibc

/// A D-Bus message. Owns one reference to libdbus' message, and is used on the loop only.
@LoopActor
public final class DBusMessage {
    /// The type of a message.
    public enum Kind: Sendable {
        /// A method call.
        case call
        /// The answer to one.
        case reply
        /// A failed one.
        case error
        /// A signal.
        case signal
    }

    /// `nonisolated(unsafe)`: the pointer never changes, and only `deinit` uses it outside the actor. `deinit` runs on
    /// the loop too, because messages are only kept there. An isolated `deinit` would take longer than reading the
    /// message.
    nonisolated(unsafe) let pointer: OpaquePointer

    /// Takes over a reference that the caller has.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Adds a reference of its own to a message that is libdbus' for the length of a callback.
    init(borrowing pointer: OpaquePointer) {
        self.pointer = dbus_message_ref(pointer)
    }

    deinit {
        dbus_message_unref(pointer)
    }

    // MARK: Making

    /// A method call.
    ///
    /// Path, interface and member come from literals or from messages that libdbus has checked; anything else is a
    /// defect, which libdbus would answer by ending the process.
    public static func call(
        to destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
    ) -> DBusMessage {
        made(dbus_message_new_method_call(destination, path, interface, member), arguments)
    }

    /// A copy of a message that was made without arguments, with arguments of its own.
    ///
    /// Takes less time than making another one: libdbus copies the header as a whole.
    public func copy(with arguments: [DBusValue]) -> DBusMessage {
        Self.made(dbus_message_copy(pointer), arguments)
    }

    /// A signal.
    public static func signal(
        _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
    ) -> DBusMessage {
        made(dbus_message_new_signal(path, interface, member), arguments)
    }

    /// The answer to a call.
    public func reply(_ arguments: [DBusValue] = []) -> DBusMessage {
        Self.made(dbus_message_new_method_return(pointer), arguments)
    }

    /// The refusal of a call.
    public func refusal(_ name: String, _ text: String) -> DBusMessage {
        Self.made(dbus_message_new_error(pointer, name, text), [])
    }

    private static func made(_ pointer: OpaquePointer?, _ arguments: [DBusValue]) -> DBusMessage {
        guard let pointer else { preconditionFailure("libdbus makes no message: an invalid name, or no memory") }
        let message = DBusMessage(owning: pointer)
        var writer = DBusWriter(message)
        for argument in arguments { writer.append(argument) }
        return message
    }

    // MARK: Reading

    /// The kind; nil for one that this version of libdbus knows and this module does not.
    public var kind: Kind? {
        switch dbus_message_get_type(pointer) {
        case DBUS_MESSAGE_TYPE_METHOD_CALL: .call
        case DBUS_MESSAGE_TYPE_METHOD_RETURN: .reply
        case DBUS_MESSAGE_TYPE_ERROR: .error
        case DBUS_MESSAGE_TYPE_SIGNAL: .signal
        default: nil
        }
    }

    /// Object path; empty in replies.
    public private(set) lazy var path = Self.text(dbus_message_get_path(pointer))
    /// Interface; may be empty in calls.
    public var interface: String { Self.text(dbus_message_get_interface(pointer)) }
    /// Method or signal.
    public var member: String { Self.text(dbus_message_get_member(pointer)) }
    /// Unique name of the sender.
    public var sender: String { Self.text(dbus_message_get_sender(pointer)) }
    /// Whether a sender has sent the message. Faster than comparing strings.
    func isFrom(_ sender: String) -> Bool { Self.equals(dbus_message_get_sender(pointer), sender) }
    /// Whether a call expects no reply.
    public var wantsNoReply: Bool { dbus_message_get_no_reply(pointer) != 0 }

    /// Whether the message is the given signal or call. Faster than comparing strings.
    public func isNamed(_ interface: StaticString, _ member: StaticString) -> Bool {
        Self.equals(dbus_message_get_member(pointer), member)
            && Self.equals(dbus_message_get_interface(pointer), interface)
    }

    /// The same for names that are not literals.
    func isNamed(_ interface: String, _ member: String) -> Bool {
        Self.equals(dbus_message_get_member(pointer), member)
            && Self.equals(dbus_message_get_interface(pointer), interface)
    }

    /// All arguments as values.
    public var arguments: [DBusValue] {
        var reader = DBusReader(self)
        var values: [DBusValue] = []
        while let value = reader.next() { values.append(value) }
        return values
    }

    /// The error that an error message holds.
    var error: DBusError {
        DBusError(.refused, name: Self.text(dbus_message_get_error_name(pointer)), text: arguments.first?.text ?? "")
    }

    nonisolated static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        pointer.map { String(cString: $0) } ?? ""
    }

    private nonisolated static func equals(_ pointer: UnsafePointer<CChar>?, _ text: String) -> Bool {
        guard let pointer else { return false }
        return text.withCString { strcmp(pointer, $0) == 0 }
    }

    nonisolated static func equals(_ pointer: UnsafePointer<CChar>?, _ text: StaticString) -> Bool {
        guard let pointer else { return false }
        // Both end with a zero byte, so neither is read past its end.
        return text.utf8Start.withMemoryRebound(to: CChar.self, capacity: text.utf8CodeUnitCount + 1) {
            strcmp(pointer, $0) == 0
        }
    }
}
