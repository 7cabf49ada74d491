public import Bluetooth
public import Bridge

extension Cause {
    /// Facts about this machine on which the remedies depend.
    struct Surroundings: Hashable, Sendable {
        /// Whether this process runs in a container.
        var isInContainer = false
        /// Whether the program bluetoothd is installed here.
        var isServiceInstalled = true
    }

    /// The cause of a fault of an adapter, or of Bluetooth as a whole.
    init(_ fault: AdapterFault, _ surroundings: Surroundings = Surroundings()) {
        let isReachable = "No tag can be reached"
        switch fault {
        case .busUnreachable:
            self.init(
                .noAdapter, .systemBus, fault.text, effect: isReachable,
                // With user namespaces, the user ID inside the container differs from that of the kernel.
                remedies: surroundings.isInContainer
                    ? ["docker run --userns host ..., where Docker maps users", "or run the bridge on the host"]
                    : ["sudo apt install dbus", "sudo systemctl start dbus"])
        case .serviceStopped:
            self = .serviceStopped(surroundings, effect: isReachable)
        case .notPermitted:
            self.init(
                .notPermitted, .bluetoothPolicy, fault.text, effect: isReachable,
                remedies: [
                    "sudo adduser \"$USER\" bluetooth",
                    "log in again; for the service: systemctl restart jacquard2mqtt",
                ])
        case .noAdapter:
            self.init(
                .noAdapter, .adapter, fault.text, effect: isReachable,
                remedies: ["plug one in, then: lsusb; bluetoothctl list", "sudo dmesg | grep -i bluetooth"])
        case .otherAdaptersOnly:
            self.init(
                .noAdapter, .adapter, fault.text, effect: isReachable,
                remedies: ["set bluetooth.adapter to one of these, or to auto"])
        case .poweredOff:
            self.init(
                .noAdapter, .adapter, fault.text, effect: isReachable,
                remedies: ["bluetoothctl power on", "sudo rfkill unblock bluetooth"])
        case .discoveryRefused:
            self.init(
                .discoveryFailed, .discovery, fault.text, effect: "No tag can be found",
                remedies: ["sudo systemctl restart bluetooth", "set bluetooth.reset_adapter to true"])
        case .taken, .other:
            self.init(.radioLost, .radio, fault.text, remedies: ["jacquard2mqtt doctor, on the bridge's host"])
        }
    }

    private static func serviceStopped(_ surroundings: Surroundings, effect: String) -> Cause {
        let text = AdapterFault.serviceStopped.text
        guard !surroundings.isInContainer else {
            return Cause(
                .noAdapter, .bluetoothService, text + " on the host of this container", effect: effect,
                remedies: ["on the host: sudo systemctl enable --now bluetooth", "on the host: sudo apt install bluez"])
        }
        guard surroundings.isServiceInstalled else {
            return Cause(
                .noAdapter, .bluetoothService, "bluetoothd is not installed", effect: effect,
                remedies: ["sudo apt install bluez"])
        }
        return Cause(
            .noAdapter, .bluetoothService, text, effect: effect,
            remedies: ["sudo systemctl enable --now bluetooth", "systemctl status bluetooth"])
    }
}

extension HostDoctor {
    /// The cause of a fault of Bluetooth, with the remedies for this machine.
    public func cause(of fault: AdapterFault) -> Cause { Cause(fault, surroundings) }
}
