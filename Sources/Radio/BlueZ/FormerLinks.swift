import Bluetooth
import Time

/// The links that an earlier run of this program has made and not ended: it was killed, or had to stop before they had ended.
///
/// BlueZ keeps such a link, and ends the subscriptions of the earlier run up to 0.1 s after its death. A device is in this list
/// until its link is used, ended, or left to another client.
struct FormerLinks {
    /// How long the earlier run, or an `ssh` process that it had started, may appear as a client of the link.
    static let grace = Duration.seconds(2)
    /// How long the caller may take to request a device before its link is ended.
    static let patience = Duration.seconds(3)

    /// The devices.
    private(set) var addresses: Set<BluetoothAddress>
    /// When the adapter could be used for the first time; nil before.
    private(set) var since: Instant?

    /// - Parameter addresses: the devices.
    init(_ addresses: Set<BluetoothAddress> = []) {
        self.addresses = addresses
    }

    var isEmpty: Bool { addresses.isEmpty }

    func contains(_ address: BluetoothAddress) -> Bool { addresses.contains(address) }

    /// A step with a link.
    enum Step: Equatable {
        /// Nothing yet.
        case wait
        /// It becomes a link of this run.
        case use
        /// It is left to another client.
        case leave
        /// It is ended.
        case end
    }

    /// Returns what is done with a link now.
    ///
    /// - Parameters:
    ///   - isWanted: whether the device is to be connected.
    ///   - isUsed: whether another client uses it.
    ///   - now: the current time.
    /// - Returns: the step.
    func step(isWanted: Bool, isUsed: Bool, at now: Instant) -> Step {
        let isOver = { [since] (time: Duration) in since.map { now - $0 >= time } ?? false }
        if isUsed { return isOver(Self.grace) ? .leave : .wait }
        if isWanted { return .use }
        return isOver(Self.patience) ? .end : .wait
    }

    /// Returns what is done with a link through an adapter that is not in use.
    func stepElsewhere(isUsed: Bool, at now: Instant) -> Step {
        isUsed ? step(isWanted: false, isUsed: true, at: now) : .end
    }

    /// Handles an adapter that can be used. Only the first time counts.
    mutating func begin(at now: Instant) {
        since = since ?? now
    }

    mutating func remove(_ address: BluetoothAddress) {
        addresses.remove(address)
    }

    mutating func removeAll() {
        addresses = []
    }
}
