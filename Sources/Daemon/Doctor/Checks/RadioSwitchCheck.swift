import Configuration

/// Whether the kernel or a switch of the machine keeps the radio silent (rfkill).
enum RadioSwitchCheck {
    /// A radio of the kernel's list.
    struct Radio: Hashable, Sendable {
        /// Such as `hci0`.
        let name: String
        /// Blocked by software.
        let isSoftBlocked: Bool
        /// Blocked by a switch that software cannot turn.
        let isHardBlocked: Bool
    }

    /// The Bluetooth radios of `/sys/class/rfkill`; none where the kernel has no such list.
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

    /// Says which radio is blocked, and by what.
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
