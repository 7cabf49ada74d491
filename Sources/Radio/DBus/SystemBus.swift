/// The system bus, on which BlueZ is.
public enum SystemBus {
    /// The default unless `DBUS_SYSTEM_BUS_ADDRESS` is set (D-Bus specification, "Well-known Message Buses").
    private static let standardAddress = "unix:path=/var/run/dbus/system_bus_socket"

    /// Returns the address from the environment, or the default. An empty variable counts as unset.
    public static func address(_ environment: [String: String]) -> String {
        environment["DBUS_SYSTEM_BUS_ADDRESS"].flatMap { $0.isEmpty ? nil : $0 } ?? standardAddress
    }
}
