import DBus
import Glibc

/// Whether the bus can be reached on which BlueZ is.
enum SystemBusCheck {
    /// Whether this is a container, by the marks of Docker and Podman.
    static func isInContainer(_ marks: [String]) -> Bool {
        marks.contains { access($0, F_OK) == 0 }
    }

    /// Says why it cannot.
    static func finding(_ address: String, _ error: DBusError?, isInContainer: Bool = false) -> Finding {
        guard let error else { return Finding(.systemBus, .ok, "reachable at \(address)") }
        if isInContainer, namesOfMissing.contains(error.name) {
            return Finding(
                .systemBus, .failed, "the host's bus is not in this container at \(address)",
                remedies: ["docker run -v /run/dbus/system_bus_socket:/run/dbus/system_bus_socket ..."])
        }
        return Finding(
            .systemBus, .failed, "not reachable at \(address): \(error.text.isEmpty ? error.name : error.text)",
            remedies: isInContainer
                // With mapped users, the number inside the container is not the kernel's.
                ? ["docker run --userns host ..., where Docker maps users", "or run the bridge on the host"]
                : ["sudo apt install dbus", "sudo systemctl start dbus"])
    }

    /// There is no such file, or no process listens. Source: dbus-sysdeps.c, `_dbus_error_from_errno`.
    private static let namesOfMissing: Set<String> = [
        "org.freedesktop.DBus.Error.FileNotFound", "org.freedesktop.DBus.Error.NoServer",
    ]
}
