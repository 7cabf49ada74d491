/// Why something on the bus did not work.
public struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a caller can make of it.
    public enum Code: Hashable, Sendable {
        /// The peer answered with an error; its name is in ``DBusError/name``.
        case refused
        /// No answer within the deadline of the call.
        case timeout
        /// The connection to the bus is gone, or could not be made.
        case disconnected
        /// The answer does not hold what the interface promises.
        case malformed
    }

    /// What a caller can make of it.
    public let code: Code
    /// The D-Bus error name, such as `org.bluez.Error.Failed`.
    public let name: String
    /// What the peer or libdbus says, for people.
    public let text: String

    /// Describes an error.
    public init(_ code: Code, name: String, text: String) {
        self.code = code
        self.name = name
        self.text = text
    }

    /// `name: text`.
    public var description: String { text.isEmpty ? name : "\(name): \(text)" }

    /// The bus has gone.
    public static let disconnected = DBusError(
        .disconnected, name: "org.freedesktop.DBus.Error.Disconnected", text: "the connection to the bus is gone")

    /// The bus does not read what is sent to it.
    static let congested = DBusError(
        .refused, name: "org.freedesktop.DBus.Error.LimitsExceeded", text: "the bus does not read what is sent to it")

    /// An answer that cannot be used.
    public static func malformed(_ text: String) -> DBusError {
        DBusError(.malformed, name: "org.freedesktop.DBus.Error.InvalidSignature", text: text)
    }
}
