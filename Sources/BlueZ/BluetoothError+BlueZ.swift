import Bluetooth
import DBus

extension BluetoothError {
    /// What a failed call to `org.bluez` means.
    ///
    /// Source: BlueZ 5.66, `src/error.c` and `create_gatt_dbus_error` in `src/gatt-client.c`.
    init(_ error: DBusError) {
        self.init(Self.code(of: error), name: error.name, text: error.text)
    }

    private static func code(of error: DBusError) -> Code {
        switch error.code {
        case .timeout: .timeout
        case .disconnected: .connectionFailed
        case .malformed: .other
        case .refused: code(named: error.name, error.text)
        }
    }

    private static func code(named name: String, _ text: String) -> Code {
        switch name {
        case "org.bluez.Error.NotReady": .poweredOff
        // The name that ATT error 3 gets, but also missing encryption: then with this text.
        case "org.bluez.Error.NotPermitted": text == "Not paired" ? .authenticationFailed : .notPermitted
        case "org.bluez.Error.NotAuthorized", "org.bluez.Error.AuthenticationFailed",
            "org.bluez.Error.AuthenticationRejected", "org.bluez.Error.AuthenticationCanceled",
            "org.bluez.Error.AuthenticationTimeout":
            .authenticationFailed
        case "org.bluez.Error.DoesNotExist", "org.freedesktop.DBus.Error.UnknownObject",
            "org.freedesktop.DBus.Error.UnknownMethod":
            .notFound
        case "org.bluez.Error.Failed": code(ofConnectionThatSays: text)
        case "org.freedesktop.DBus.Error.LimitsExceeded", "org.freedesktop.DBus.Error.NoMemory": .busy
        case "org.bluez.Error.NotConnected", "org.bluez.Error.InProgress",
            "org.bluez.Error.ConnectionAttemptFailed", "org.freedesktop.DBus.Error.ServiceUnknown",
            "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.NoReply":
            .connectionFailed
        default: .other
        }
    }

    /// `Connect` has one name for all its failures; the text is one of a list, with `br-` or `le-` before it. That bluetoothd
    /// knows a missing key is newer than 5.66. Source: BlueZ, `src/error.h`.
    private static func code(ofConnectionThatSays text: String) -> Code {
        if text.hasSuffix("-connection-canceled") { return .canceled }
        if text.hasSuffix("-connection-key-missing") { return .authenticationFailed }
        if text.hasSuffix("-adapter-not-powered") { return .poweredOff }
        return .connectionFailed
    }
}
