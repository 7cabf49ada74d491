import DBus

/// Whether the bus can be reached on which BlueZ is.
enum SystemBusCheck {
    /// Says why it cannot.
    static func finding(_ address: String, _ error: DBusError?) -> Finding {
        guard let error else { return Finding(.systemBus, .ok, "reachable at \(address)") }
        return Finding(
            .systemBus, .failed, "not reachable at \(address): \(error.text.isEmpty ? error.name : error.text)",
            remedies: ["sudo apt install dbus", "sudo systemctl start dbus"])
    }
}
