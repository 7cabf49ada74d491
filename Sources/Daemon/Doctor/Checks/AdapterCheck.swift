import Configuration

/// Whether there is the adapter that the configuration wants, and whether it is on.
enum AdapterCheck {
    /// Says which adapter the bridge would use.
    static func finding(_ facts: BluetoothFacts, _ choice: Settings.Bluetooth.Adapter) -> Finding {
        guard facts.isAnswered else { return Finding(.adapter, .skipped, "bluetoothd did not list its adapters") }
        guard !facts.adapters.isEmpty else {
            return Finding(
                .adapter, .failed, "bluetoothd knows no adapter",
                remedies: ["plug one in, then: lsusb; bluetoothctl list", "sudo dmesg | grep -i bluetooth"])
        }
        let all = facts.adapters.map { "\($0.name) \($0.address)" }.joined(separator: ", ")
        guard let adapter = chosen(facts.adapters, choice) else {
            return Finding(
                .adapter, .failed, "the adapter that bluetooth.adapter names does not exist; there is \(all)",
                remedies: ["set bluetooth.adapter to one of these, or to auto"])
        }
        guard adapter.isPowered else {
            return Finding(
                .adapter, .failed, "\(adapter.name) \(adapter.address) is switched off",
                remedies: ["bluetoothctl power on"])
        }
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
