import DBus
import Glibc

/// Whether the policy of the bus lets this user talk to bluetoothd.
enum BluetoothPolicyCheck {
    /// Says whether bluetoothd has answered.
    static func finding(_ facts: BluetoothFacts) -> Finding {
        guard facts.busError == nil, facts.isServiceRunning else {
            return Finding(.bluetoothPolicy, .skipped, "bluetoothd is not running")
        }
        guard let error = facts.callError else {
            return Finding(.bluetoothPolicy, .ok, "this user may talk to bluetoothd")
        }
        guard error.name.hasSuffix(".AccessDenied") else {
            return Finding(
                .bluetoothPolicy, .failed, "bluetoothd does not answer: \(error.description)",
                remedies: ["sudo systemctl restart bluetooth"])
        }
        // dbus-daemon and dbus-broker say so in the error's text when AppArmor mediates the bus. `contains` would link the
        // engine of regular expressions, a megabyte.
        guard strstr(error.text, "AppArmor") == nil else {
            return Finding(
                .bluetoothPolicy, .failed, "AppArmor does not let this process talk to bluetoothd",
                remedies: [
                    "sudo journalctl -k -b | grep 'apparmor=\"DENIED\"'",
                    "in a container: docker run --security-opt apparmor=unconfined ...",
                ])
        }
        return Finding(
            .bluetoothPolicy, .failed, "the bus does not let this user talk to bluetoothd",
            remedies: [
                "sudo adduser \"$USER\" bluetooth", "log in again; for the service: systemctl restart jacquard2mqtt",
            ])
    }
}
