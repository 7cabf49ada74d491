/// An error of a D-Bus operation.
public struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The meaning of an error for a caller.
    public enum Code: Hashable, Sendable {
        /// The peer replied with the error ``DBusError/name``.
        case refused
        /// No reply within the deadline of the call.
        case timeout
        /// The connection to the bus has ended, or could not be made.
        case disconnected
        /// The reply does not match the interface.
        case malformed
    }

    /// Its meaning for a caller.
    public let code: Code
    /// The D-Bus error name, such as `org.bluez.Error.Failed`.
    public let name: String
    /// The readable text of the peer or libdbus.
    public let text: String

    /// Creates an error.
    public init(_ code: Code, name: String, text: String) {
        self.code = code
        self.name = name
        self.text = text
    }

    /// `name: text`.
    public var description: String { text.isEmpty ? name : "\(name): \(text)" }

    /// The error of a lost connection.
    public static let disconnected = DBusError(
        .disconnected, name: "org.freedesktop.DBus.Error.Disconnected", text: "the connection to the bus is gone")

    /// The error of a bus that does not read sent messages.
    static let congested = DBusError(
        .refused, name: "org.freedesktop.DBus.Error.LimitsExceeded", text: "the bus does not read what is sent to it")

    /// The error of an unusable reply.
    public static func malformed(_ text: String) -> DBusError {
        DBusError(.malformed, name: "org.freedesktop.DBus.Error.InvalidSignature", text: text)
    }
}
