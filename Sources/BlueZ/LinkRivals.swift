import Bluetooth
import Time

/// Links of other clients of BlueZ, and how often they were dropped for a link of our own.
///
/// BlueZ shares one link among all clients, so a link that is there already may be left from a client that was killed, or
/// belong to one that uses it. A descriptor of `AcquireNotify` closes with its client: where one is open, the client lives, and
/// the link stays. Another link is dropped, but if the other client makes it again, that client lives too.
struct LinkRivals {
    /// How many links of a device are dropped within ``window``. Two: one may have been left from an attempt of our own.
    static let most = 2
    /// How long a dropped link counts.
    static let window = Duration.seconds(600)
    /// Upper bound on remembered devices.
    static let limit = 1_000

    private var drops: [BluetoothAddress: [Instant]] = [:]

    /// Decides about a link that somebody else has made, and counts it as dropped if it may be.
    ///
    /// - Parameters:
    ///   - address: of the device.
    ///   - isAcquired: whether a client holds notifications of the device by descriptor.
    ///   - now: the time.
    /// - Returns: whether to drop the link; false if another client uses it.
    mutating func mayDropLink(of address: BluetoothAddress, isAcquired: Bool, at now: Instant) -> Bool {
        guard !isAcquired else { return false }
        let recent = (drops[address] ?? []).filter { now - $0 < Self.window }
        guard recent.count < Self.most else { return false }
        if drops[address] == nil, drops.count >= Self.limit {
            drops = drops.filter { $0.value.contains { now - $0 < Self.window } }
            if drops.count >= Self.limit { drops = [:] }
        }
        drops[address] = recent + [now]
        return true
    }
}
