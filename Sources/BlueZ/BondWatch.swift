import Bluetooth

/// Finds devices that have lost the bond that BlueZ believes in.
///
/// With a bond, BlueZ encrypts before it does anything else. A device without the key refuses that, the kernel drops the
/// link at once, and bluetoothd 5.66 says `le-connection-abort-by-local` as to every other failure; `Paired` stays true.
/// What is left to see is a link that ends right after it was made, before any service was resolved. One such end may be
/// the radio's fault, three in a row hardly.
struct BondWatch {
    /// How many ends in a row are believed.
    static let enough = 3
    /// A link that lasts longer than this was not dropped for want of a key.
    static let brief = Duration.seconds(2)

    private var ends: [BluetoothAddress: Int] = [:]

    /// A link has ended that nobody wanted to end.
    ///
    /// - Parameters:
    ///   - address: whose.
    ///   - isPaired: whether BlueZ has a bond with the device.
    ///   - lasted: how long the link was up.
    ///   - wasResolved: whether its services have been resolved, which takes an encrypted link where there is a bond.
    /// - Returns: whether the bond counts as lost.
    mutating func ended(_ address: BluetoothAddress, isPaired: Bool, lasted: Duration, wasResolved: Bool) -> Bool {
        guard isPaired, !wasResolved, lasted < Self.brief else {
            ends[address] = nil
            return false
        }
        let count = min(Self.enough, ends[address, default: 0] + 1)
        ends[address] = count
        return count == Self.enough
    }

    /// The device is no longer known, or has proved its bond.
    mutating func clear(_ address: BluetoothAddress) {
        ends[address] = nil
    }
}
