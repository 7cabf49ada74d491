import Bluetooth
import DBus

/// The bus name, paths and interfaces of BlueZ. Members and error names are written where they are used.
///
/// Source: BlueZ 5.66, `doc/adapter-api.txt`, `doc/device-api.txt`, `doc/gatt-api.txt` (since 5.69
/// `doc/org.bluez.*.rst`).
enum BlueZNames {
    static let service = "org.bluez"
    static let root = "/"
    static let tree = "/org/bluez"

    static let objectManager = "org.freedesktop.DBus.ObjectManager"
    static let properties = "org.freedesktop.DBus.Properties"

    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let gattService = "org.bluez.GattService1"
    static let gattCharacteristic = "org.bluez.GattCharacteristic1"
}

extension BluetoothError.DisconnectReason {
    /// Converts the name of a reason of `org.bluez.Device1.Disconnected`, a signal of BlueZ 5.83 and later; nil for a reason
    /// that is none of these.
    ///
    /// Source: BlueZ 5.83, `doc/org.bluez.Device.rst`.
    init?(bluez name: String) {
        switch name {
        case "org.bluez.Reason.Remote": self = .remote
        case "org.bluez.Reason.Timeout": self = .timeout
        case "org.bluez.Reason.Local", "org.bluez.Reason.LocalSuspend", "org.bluez.Reason.Suspend": self = .local
        default: return nil
        }
    }
}

extension BluetoothError {
    /// The error of a link that was lost, if BlueZ does not say why.
    static let linkLost = BluetoothError(.connectionFailed, text: "the link was lost")

    /// The error of a link that has ended for a reason such as `org.bluez.Reason.Timeout`.
    init(linkEnd name: String) {
        let end = DisconnectReason(bluez: name)
        let isRefused = name == "org.bluez.Reason.Authentication"
        let text = isRefused ? "the authentication failed" : Self.linkLost.text
        self.init(.connectionFailed, name: name, text: end?.text ?? text, end: end)
    }

    /// Returns the error with the code and text of a lost bond.
    static func bondLost(_ error: BluetoothError) -> BluetoothError {
        BluetoothError(
            .authenticationFailed, name: error.name,
            text: "the device has lost its bond with this host (\(error.text)): forget it, then pair it again",
            end: error.end)
    }

    /// Converts the error of a call to `org.bluez`.
    ///
    /// Source: BlueZ 5.66, `src/error.c` and `create_gatt_dbus_error` in `src/gatt-client.c`.
    init(_ error: DBusError) {
        let text = error.isWriteAcquired ? "another program on this host writes to the device" : error.text
        self.init(Self.code(of: error), name: error.name, text: text)
    }

    private static func code(of error: DBusError) -> Code {
        switch error.code {
        case .timeout: .timeout
        case .disconnected: .connectionFailed
        case .malformed: .other
        case .refused: error.isWriteAcquired ? .inUse : code(named: error.name, error.text)
        }
    }

    private static func code(named name: String, _ text: String) -> Code {
        switch name {
        case "org.bluez.Error.NotReady": .poweredOff
        // BlueZ uses this name for ATT error 3 and, with this text, for missing encryption.
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

    /// `Connect` has one error name for all failures. The text is one of a list, with the prefix `br-` or `le-`. The
    /// text for a missing key is newer than 5.66. Source: BlueZ, `src/error.h`.
    private static func code(ofConnectionThatSays text: String) -> Code {
        if text.hasSuffix("-connection-canceled") { return .canceled }
        if text.hasSuffix("-connection-key-missing") { return .authenticationFailed }
        if text.hasSuffix("-adapter-not-powered") { return .poweredOff }
        return .connectionFailed
    }
}
