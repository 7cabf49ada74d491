import Bluetooth
import Bridge
import Configuration
import DBus
import Glibc
import JacquardProtocol
import Text

/// Checks the connection to the system bus.
enum SystemBusCheck {
    /// Whether this process runs in a container: one of the files that Docker and Podman create exists.
    static func isInContainer(_ marks: [String]) -> Bool {
        marks.contains { access($0, F_OK) == 0 }
    }

    /// Reports the error of the connection.
    static func finding(_ address: String, _ error: DBusError?, isInContainer: Bool = false) -> Finding {
        guard let error else { return Finding(.systemBus, .ok, "reachable at \(address)") }
        if isInContainer, namesOfMissing.contains(error.name) {
            return Finding(
                .systemBus, .failed, "the host's bus is not in this container at \(address)",
                remedies: ["docker run -v /run/dbus/system_bus_socket:/run/dbus/system_bus_socket ..."])
        }
        let text = "\(address): \(error.text.isEmpty ? error.name : error.text)"
        return Finding(Cause(.busUnreachable(text), Cause.Surroundings(isInContainer: isInContainer)))
    }

    /// The socket does not exist, or no process listens. Source: dbus-sysdeps.c, `_dbus_error_from_errno`.
    private static let namesOfMissing: Set<String> = [
        "org.freedesktop.DBus.Error.FileNotFound", "org.freedesktop.DBus.Error.NoServer",
    ]
}

/// Checks that bluetoothd runs.
enum BluetoothServiceCheck {
    /// Reports whether bluetoothd runs, or whether it is installed.
    static func finding(_ facts: BluetoothFacts, _ surroundings: Cause.Surroundings) -> Finding {
        guard facts.busError == nil else { return Finding(.bluetoothService, .skipped, "there is no system bus") }
        guard !facts.isServiceRunning else { return Finding(.bluetoothService, .ok, "running") }
        return Finding(Cause(.serviceStopped, surroundings))
    }
}

/// Checks that the policy of the bus allows this user to call bluetoothd.
enum BluetoothPolicyCheck {
    /// Reports whether bluetoothd answered.
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
        // dbus-daemon and dbus-broker name AppArmor in the error's text. `contains` would link the regular expressions of the
        // standard library, a megabyte.
        guard strstr(error.text, "AppArmor") == nil else {
            return Finding(
                .bluetoothPolicy, .failed, "AppArmor does not let this process talk to bluetoothd",
                remedies: [
                    "sudo journalctl -k -b | grep 'apparmor=\"DENIED\"'",
                    "in a container: docker run --security-opt apparmor=unconfined ...",
                ])
        }
        return Finding(Cause(.notPermitted))
    }
}

/// Checks that the configured adapter exists and is powered.
enum AdapterCheck {
    /// Reports the adapter that the bridge would use.
    static func finding(_ facts: BluetoothFacts, _ choice: Settings.Bluetooth.Adapter) -> Finding {
        guard facts.isAnswered else { return Finding(.adapter, .skipped, "bluetoothd did not list its adapters") }
        guard !facts.adapters.isEmpty else {
            return Finding(Cause(.noAdapter))
        }
        guard let adapter = chosen(facts.adapters, choice) else {
            let present = facts.adapters.map { "\($0.name) \($0.address)" }
            return Finding(Cause(.otherAdaptersOnly(wanted: choice.text, present: present)))
        }
        guard adapter.isPowered else { return Finding(Cause(.poweredOff(adapter.name))) }
        return Finding(.adapter, .ok, "\(adapter.name) \(adapter.address) is on")
    }

    private static func chosen(
        _ adapters: [BluetoothFacts.Adapter], _ choice: Settings.Bluetooth.Adapter
    ) -> BluetoothFacts.Adapter? {
        switch choice {
        case .automatic: adapters.first(where: \.isPowered) ?? adapters.first
        case .name(let name): adapters.first { $0.name == name }
        case .address(let address): adapters.first { $0.address.uppercased() == address }
        }
    }
}

/// Checks the version of BlueZ.
enum BlueZVersionCheck {
    /// The version of Debian 12, the oldest with which the bridge is tested.
    private static let tested = (5, 66)
    /// A version that crashes as soon as an advertisement matches a filter by service, which the bridge sets. Source: bluez/bluez,
    /// issue 2282.
    private static let crashing = (5, 87)

    /// Reports whether the bridge is tested with the version.
    ///
    /// - Parameters:
    ///   - output: what the program prints, such as `bluetoothctl: 5.66`; nil if it did not run.
    ///   - isInContainer: whether this process runs in a container, which needs no BlueZ of its own.
    /// - Returns: the finding; at most a warning, because the bridge does not need the program.
    static func finding(_ output: String?, isInContainer: Bool = false) -> Finding {
        guard output != nil || !isInContainer else {
            return Finding(.bluezVersion, .skipped, "that of the host; run bluetoothctl --version there")
        }
        guard let output else {
            return Finding(
                .bluezVersion, .warning, "not known, bluetoothctl cannot be run", remedies: ["sudo apt install bluez"])
        }
        let word = output.split(whereSeparator: \.isWhitespace).last.map(String.init) ?? ""
        let numbers = word.split(separator: ".").map { Int($0) }
        guard numbers.count == 2, let major = numbers[0], let minor = numbers[1] else {
            return Finding(.bluezVersion, .warning, "not known, bluetoothctl says \(DisplayText.quoted(output))")
        }
        guard (major, minor) >= tested else {
            return Finding(
                .bluezVersion, .warning, "\(word); the bridge is tested with \(tested.0).\(tested.1) and later",
                remedies: ["sudo apt update && sudo apt install bluez"])
        }
        guard (major, minor) != crashing else {
            return Finding(
                .bluezVersion, .warning,
                "\(word), whose bluetoothd crashes when the bridge scans, unless your distribution has mended it",
                remedies: ["install BlueZ \(crashing.0).\(crashing.1 - 1), or a later one than \(word)"])
        }
        return Finding(.bluezVersion, .ok, word)
    }
}

/// Checks whether BlueZ knows a tag that the bridge can't use.
enum SnapTagCheck {
    /// Reports tags of 2017; nil if there is none.
    static func finding(_ facts: BluetoothFacts) -> Finding? {
        guard !facts.snapTags.isEmpty else { return nil }
        return Finding(
            .snapTag, .warning, facts.snapTags.map { "\($0) is \(SnapTag.reason)" }.joined(separator: "; "),
            remedies: ["use a tag of 2019 or later: it has four characters printed on it"])
    }
}
