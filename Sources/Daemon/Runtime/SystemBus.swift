/// The bus that BlueZ is on.
enum SystemBus {
    /// Where it is unless `DBUS_SYSTEM_BUS_ADDRESS` says otherwise (D-Bus specification, "Well-known Message Buses").
    private static let standardAddress = "unix:path=/var/run/dbus/system_bus_socket"

    /// Its address for a process with these variables.
    static func address(_ environment: [String: String]) -> String {
        environment["DBUS_SYSTEM_BUS_ADDRESS"] ?? standardAddress
    }
}
