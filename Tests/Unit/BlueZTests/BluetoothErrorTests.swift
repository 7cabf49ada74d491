import Bluetooth
import DBus
import Testing

@testable import BlueZ

@Suite("Errors of BlueZ")
struct BluetoothErrorTests {
    /// Name behind `org.bluez.Error.`, text, and what it means. Source: BlueZ 5.66, `src/error.c`, `src/error.h`.
    private static let table: [(String, String, BluetoothError.Code)] = [
        ("NotReady", "Resource Not Ready", .poweredOff),
        ("Failed", "le-connection-abort-by-local", .connectionFailed),
        ("Failed", "Input/output error", .connectionFailed),
        ("Failed", "Operation failed with ATT error: 0x0e", .connectionFailed),
        ("Failed", "br-connection-canceled", .canceled),
        ("Failed", "le-connection-key-missing", .authenticationFailed),
        ("Failed", "br-connection-adapter-not-powered", .poweredOff),
        ("NotConnected", "Not Connected", .connectionFailed),
        ("InProgress", "In Progress", .connectionFailed),
        ("ConnectionAttemptFailed", "Page Timeout", .connectionFailed),
        // ATT error 3, and missing encryption under the same name.
        ("NotPermitted", "Write not permitted", .notPermitted),
        ("NotPermitted", "Not paired", .authenticationFailed),
        ("NotAuthorized", "Operation Not Authorized", .authenticationFailed),
        ("AuthenticationFailed", "Authentication Failed", .authenticationFailed),
        ("AuthenticationRejected", "Authentication Rejected", .authenticationFailed),
        ("AuthenticationCanceled", "Authentication Canceled", .authenticationFailed),
        ("AuthenticationTimeout", "Authentication Timeout", .authenticationFailed),
        ("DoesNotExist", "Does Not Exist", .notFound),
        ("InvalidArguments", "Invalid arguments in method call", .other),
        ("NotSupported", "Operation is not supported", .other),
    ]

    @Test("have a code for the caller, and keep name and text", arguments: table)
    func named(name: String, text: String, code: BluetoothError.Code) {
        let error = BluetoothError(DBusError(.refused, name: "org.bluez.Error." + name, text: text))
        #expect(error == BluetoothError(code, name: "org.bluez.Error." + name, text: text))
    }

    @Test("say that another program writes to the device")
    func writeAcquired() {
        let error = DBusError(.refused, name: "org.bluez.Error.NotPermitted", text: "Write acquired")
        #expect(
            BluetoothError(error)
                == BluetoothError(.inUse, name: error.name, text: "another program on this host writes to the device"))
    }

    @Test(
        "from the bus have codes for a missing device or service and for a lack of resources",
        arguments: [
            ("UnknownObject", BluetoothError.Code.notFound), ("UnknownMethod", .notFound),
            ("ServiceUnknown", .connectionFailed), ("NoReply", .connectionFailed),
            ("NameHasNoOwner", .connectionFailed),
            ("LimitsExceeded", .busy), ("NoMemory", .busy), ("AccessDenied", .other),
        ])
    func bus(name: String, code: BluetoothError.Code) {
        #expect(BluetoothError(DBusError(.refused, name: "org.freedesktop.DBus.Error." + name, text: "")).code == code)
    }

    @Test(
        "from the client's own side each have a code",
        arguments: [
            (DBusError.Code.timeout, BluetoothError.Code.timeout), (.disconnected, .connectionFailed),
            (.malformed, .other),
        ])
    func own(code: DBusError.Code, meaning: BluetoothError.Code) {
        #expect(BluetoothError(DBusError(code, name: "x", text: "y")).code == meaning)
    }
}
