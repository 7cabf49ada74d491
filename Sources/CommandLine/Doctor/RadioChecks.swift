import Bridge
import Configuration
import Glibc

/// Checks that the radio is not blocked by software or a hardware switch (rfkill).
enum RadioSwitchCheck {
    /// A radio in the kernel's list.
    struct Radio: Hashable, Sendable {
        /// Such as `hci0`.
        let name: String
        /// Blocked by software.
        let isSoftBlocked: Bool
        /// Blocked by a hardware switch.
        let isHardBlocked: Bool
    }

    /// Returns the Bluetooth radios of `/sys/class/rfkill`; none if the kernel has no such folder.
    static func probe(_ folder: String = "/sys/class/rfkill") -> [Radio] {
        return FolderEntries.names(in: folder).sorted().compactMap { entry in
            func attribute(_ name: String) -> String {
                let contents = try? FileContents(path: "\(folder)/\(entry)/\(name)", limit: 4096)
                return String(decoding: contents?.bytes ?? [], as: UTF8.self).filter { !$0.isWhitespace }
            }
            guard attribute("type") == "bluetooth" else { return nil }
            return Radio(
                name: attribute("name"), isSoftBlocked: attribute("soft") == "1",
                isHardBlocked: attribute("hard") == "1")
        }
    }

    /// Reports the radio that is blocked.
    static func finding(_ radios: [Radio]) -> Finding {
        if let radio = radios.first(where: \.isHardBlocked) {
            return Finding(
                .radioSwitch, .failed, "\(radio.name) is blocked by a switch of the machine",
                remedies: ["turn the switch or key for radio on, or allow Bluetooth in the firmware's setup"])
        }
        if let radio = radios.first(where: \.isSoftBlocked) {
            return Finding(
                .radioSwitch, .failed, "\(radio.name) is blocked", remedies: ["sudo rfkill unblock bluetooth"])
        }
        return Finding(.radioSwitch, .ok, radios.isEmpty ? "no radio is listed" : "no radio is blocked")
    }
}

/// Checks whether Wi-Fi shares a chip, and therefore an antenna, with Bluetooth: traffic at 2.4 GHz delays Bluetooth.
enum SharedChipCheck {
    /// A radio of the kernel.
    struct Radio: Hashable, Sendable {
        /// Such as `hci0` or `wlan0`.
        let name: String
        /// The path of its device; for an interface of a USB device, that of the USB device.
        let holder: String
        /// Such as `brcmfmac`; empty if the kernel names none.
        let driver: String
    }

    /// Drivers for the two functions of one chip that uses two buses: Raspberry Pi (Broadcom), Intel cards.
    private static let halves: [(bluetooth: String, wireless: String)] = [
        ("hci_uart_bcm", "brcmfmac"), ("btintel_pcie", "iwlwifi"),
    ]

    /// Returns the radios below a folder such as `/sys/class`.
    static func probe(_ folder: String = "/sys/class") -> (bluetooth: [Radio], wireless: [Radio]) {
        let wireless = FolderEntries.names(in: folder + "/net").filter {
            access("\(folder)/net/\($0)/phy80211", F_OK) == 0
        }
        // The folder also contains connections, such as `hci0:16`.
        let bluetooth = FolderEntries.names(in: folder + "/bluetooth").filter { !$0.utf8.contains(UInt8(ascii: ":")) }
        return (
            bluetooth.sorted().map { radio(folder + "/bluetooth/", $0) },
            wireless.sorted().map { radio(folder + "/net/", $0) }
        )
    }

    private static func radio(_ folder: String, _ name: String) -> Radio {
        let device = resolved(folder + name + "/device")
        // The folder of a USB interface, such as `1-1:1.0`, is inside that of its device.
        let isInterface = last(device).utf8.contains(UInt8(ascii: ":"))
        let holder = isInterface ? device.split(separator: "/").dropLast().joined(separator: "/") : device
        return Radio(name: name, holder: holder, driver: last(resolved(device + "/driver")))
    }

    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return "" }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func last(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? ""
    }

    /// Reports radios that share a chip.
    static func finding(_ radios: (bluetooth: [Radio], wireless: [Radio])) -> Finding {
        for bluetooth in radios.bluetooth {
            let twin = radios.wireless.first { wireless in
                !bluetooth.holder.isEmpty && bluetooth.holder == wireless.holder
                    || halves.contains { $0 == (bluetooth.driver, wireless.driver) }
            }
            guard let twin else { continue }
            return Finding(
                .sharedChip, .warning,
                "\(bluetooth.name) and \(twin.name) share a chip: Wi-Fi at 2.4 GHz disturbs Bluetooth",
                remedies: ["iw dev \(twin.name) link", "use 5 GHz, a cable, or a Bluetooth adapter of its own"])
        }
        return Finding(.sharedChip, .ok, "no Wi-Fi adapter shares a chip with Bluetooth, by what the kernel lists")
    }
}
