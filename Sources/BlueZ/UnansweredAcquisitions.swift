import Bluetooth

/// Calls of `AcquireNotify` that bluetoothd had not answered when the link ended, by device. They are taken back on the next link.
struct UnansweredAcquisitions {
    /// Upper bound on remembered devices.
    static let limit = 1_000

    private var paths: [BluetoothAddress: Set<String>] = [:]

    /// Remembers the characteristics of a link that has ended; none is remembered as nothing.
    mutating func keep(_ unanswered: Set<String>, of address: BluetoothAddress) {
        guard !unanswered.isEmpty else { return }
        if paths.count >= Self.limit, paths[address] == nil { paths = [:] }
        paths[address] = unanswered
    }

    /// Removes and returns the characteristics of a device, in order.
    mutating func take(_ address: BluetoothAddress) -> [String] {
        (paths.removeValue(forKey: address) ?? []).sorted()
    }

    /// Removes all, after the end of bluetoothd.
    mutating func removeAll() {
        paths = [:]
    }
}
