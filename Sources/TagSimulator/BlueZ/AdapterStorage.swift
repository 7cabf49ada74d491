/// What outlives bluetoothd: its files, and the kernel's state of the adapter.
struct AdapterStorage {
    /// What is kept of a bonded device.
    struct Bond {
        var alias: String?
        var isTrusted = false
    }

    /// Whether the adapter has power.
    var isPowered = true
    /// The name that a user gave to the adapter.
    var alias: String?
    /// Bonded devices by address.
    var bonds: [String: Bond] = [:]
}
