import Configuration
import Glibc

/// Whether Wi-Fi shares a chip, and so an antenna and 2.4 GHz, with Bluetooth: under load it starves the other.
enum SharedChipCheck {
    /// A radio of the kernel.
    struct Radio: Hashable, Sendable {
        /// Such as `hci0` or `wlan0`.
        let name: String
        /// The path of what holds it: a USB device for its interfaces, else the device itself.
        let holder: String
        /// Such as `brcmfmac`; empty if the kernel names none.
        let driver: String
    }

    /// Drivers of the two halves of chips that sit on two buses: Raspberry Pi (Broadcom), Intel's cards.
    private static let halves: [(bluetooth: String, wireless: String)] = [
        ("hci_uart_bcm", "brcmfmac"), ("btintel_pcie", "iwlwifi"),
    ]

    /// The radios below a folder such as `/sys/class`; empty if the kernel lists none.
    static func probe(_ folder: String = "/sys/class") -> (bluetooth: [Radio], wireless: [Radio]) {
        let wireless = FolderEntries.names(in: folder + "/net").filter {
            access("\(folder)/net/\($0)/phy80211", F_OK) == 0
        }
        // A link of a device is listed beside its adapter, as `hci0:16`.
        let bluetooth = FolderEntries.names(in: folder + "/bluetooth").filter { !$0.utf8.contains(UInt8(ascii: ":")) }
        return (
            bluetooth.sorted().map { radio(folder + "/bluetooth/", $0) },
            wireless.sorted().map { radio(folder + "/net/", $0) }
        )
    }

    private static func radio(_ folder: String, _ name: String) -> Radio {
        let device = resolved(folder + name + "/device")
        // An interface of a USB device is called `1-1:1.0`, below the device.
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

    /// Says which radios share a chip.
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
