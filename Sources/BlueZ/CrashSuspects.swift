import Bluetooth
import Time

/// Devices at whose connection bluetoothd has ended again and again.
///
/// Each attempt to connect such a device ends the connections of all others, so it is repeated after a pause that grows. Seen with
/// Linux 6.1.192: a device that has lost its bond makes the kernel fail when bluetoothd closes the link, and bluetoothd with it.
struct CrashSuspects {
    /// How long after the beginning of an attempt an end of bluetoothd counts against the device.
    static let window = Duration.seconds(30)
    /// The pause after the second end in a row. The first may have another cause.
    static let firstPause = Duration.seconds(10)
    /// The longest pause.
    static let longestPause = Duration.seconds(600)
    /// Upper bound on remembered devices.
    static let limit = 100

    private struct Entry {
        var ends = 0
        var pauses = Backoff(first: CrashSuspects.firstPause, longest: CrashSuspects.longestPause)
        var until: Instant?
    }

    private var entries: [BluetoothAddress: Entry] = [:]
    /// The last attempt, unless it was successful.
    private var attempt: (address: BluetoothAddress, at: Instant)?

    /// When a device may be connected; nil if at once.
    func pause(of address: BluetoothAddress) -> Instant? { entries[address]?.until }

    /// An attempt begins.
    mutating func begins(_ address: BluetoothAddress, at now: Instant) {
        attempt = (address, now)
    }

    /// The services of a device are resolved: bluetoothd has survived its connection.
    mutating func survived(_ address: BluetoothAddress) {
        entries[address] = nil
        if attempt?.address == address { attempt = nil }
    }

    /// bluetoothd has ended.
    ///
    /// - Returns: the device that is connected after a pause from now on, and the pause; nil if there is none.
    mutating func ended(at now: Instant) -> (address: BluetoothAddress, pause: Duration)? {
        guard let (address, began) = attempt, now - began < Self.window else { return nil }
        attempt = nil
        if entries[address] == nil, entries.count >= Self.limit { entries = [:] }
        entries[address, default: Entry()].ends += 1
        guard let ends = entries[address]?.ends, ends > 1, let pause = entries[address]?.pauses.next() else {
            return nil
        }
        entries[address]?.until = now + pause
        return (address, pause)
    }
}
