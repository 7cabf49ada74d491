import Bluetooth
import Time

/// Values by device address, with an upper bound on their number: any device nearby can add one.
struct BoundedMap<Value> {
    private let limit: Int
    private var values: [BluetoothAddress: Value] = [:]

    /// Creates an empty map.
    ///
    /// - Parameter limit: maximum number of values.
    init(limit: Int) {
        self.limit = limit
    }

    /// The value of a device; nil if there is none. A new value removes all others if the map is full.
    subscript(_ address: BluetoothAddress) -> Value? {
        get { values[address] }
        set {
            if newValue != nil, values[address] == nil, values.count >= limit { values = [:] }
            values[address] = newValue
        }
    }

    /// Makes room in a full map for a new device by removing obsolete values.
    mutating func makeRoom(for address: BluetoothAddress, removing isObsolete: (Value) -> Bool) {
        guard values.count >= limit, values[address] == nil else { return }
        values = values.filter { !isObsolete($0.value) }
    }

    /// Removes all values.
    mutating func removeAll() {
        values = [:]
    }
}

/// Links that this client has not made, and how often they were replaced by links of this client.
///
/// BlueZ shares one link among all clients, so an existing link may be in use, left from a killed client, or made by
/// BlueZ because the device has come back. A subscription ends with its client: if there is one, the client is alive and
/// the link is kept. Any other link is replaced, because what the device has sent at its start is lost. A link that
/// comes back nevertheless is used as it is.
struct ForeignLinks {
    /// The use of an existing link.
    enum Use {
        /// Drop it and make another one.
        case replace
        /// Use it as it is.
        case adopt
        /// Leave it to the client that uses it.
        case refuse
    }

    /// How many links of a device are replaced within ``window``. Two, because one may be left from an attempt of this
    /// client.
    static let most = 2
    /// How long a replaced link counts.
    static let window = Duration.seconds(600)
    /// Upper bound on remembered devices.
    static let limit = 1_000

    private var replacements = BoundedMap<[Instant]>(limit: Self.limit)

    /// Decides what to do with an existing link, and counts a replacement.
    ///
    /// - Parameters:
    ///   - address: the device.
    ///   - hasClient: whether another client has subscribed to notifications of the device.
    ///   - now: the time.
    /// - Returns: what to do.
    mutating func use(of address: BluetoothAddress, hasClient: Bool, at now: Instant) -> Use {
        guard !hasClient else { return .refuse }
        let recent = (replacements[address] ?? []).filter { now - $0 < Self.window }
        guard recent.count < Self.most else { return .adopt }
        replacements.makeRoom(for: address) { times in !times.contains { now - $0 < Self.window } }
        replacements[address] = recent + [now]
        return .replace
    }
}

/// Devices at whose connection bluetoothd has ended repeatedly.
///
/// Each attempt to connect such a device ends the connections of all others, so it is repeated after a growing pause.
/// Observed with Linux 6.1.192: a device that has lost its bond makes the kernel fail when bluetoothd closes the link,
/// which ends bluetoothd.
struct CrashSuspects {
    /// An end of bluetoothd this long after the start of an attempt, or earlier, is attributed to the device.
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

    private var entries = BoundedMap<Entry>(limit: Self.limit)
    /// The last attempt, unless it was successful.
    private var attempt: (address: BluetoothAddress, at: Instant)?

    /// Returns the earliest time of the next attempt; nil if there is no pause.
    func pause(of address: BluetoothAddress) -> Instant? { entries[address]?.until }

    /// Handles the start of an attempt.
    mutating func begins(_ address: BluetoothAddress, at now: Instant) {
        attempt = (address, now)
    }

    /// Handles resolved services of a device: bluetoothd has survived its connection.
    mutating func survived(_ address: BluetoothAddress) {
        entries[address] = nil
        if attempt?.address == address { attempt = nil }
    }

    /// Handles the end of bluetoothd.
    ///
    /// - Returns: the device whose next attempt is delayed, and the pause; nil if there is none.
    mutating func ended(at now: Instant) -> (address: BluetoothAddress, pause: Duration)? {
        guard let (address, began) = attempt, now - began < Self.window else { return nil }
        attempt = nil
        var entry = entries[address] ?? Entry()
        defer { entries[address] = entry }
        entry.ends += 1
        guard entry.ends > 1 else { return nil }
        let pause = entry.pauses.next()
        entry.until = now + pause
        return (address, pause)
    }
}

/// Detects devices that have lost their bond, while BlueZ still has it.
///
/// With a bond, BlueZ encrypts the link first. A device without the key refuses that, the kernel drops the link at
/// once, and bluetoothd 5.66 reports `le-connection-abort-by-local` as for every other failure; `Paired` stays true.
/// The only evidence is a link that ends right after it was made, before any service was resolved. One such end may
/// have another cause; three in a row are taken as a lost bond.
struct BondWatch {
    /// The number of such ends in a row after which the bond counts as lost.
    static let enough = 3
    /// A link that lasts longer than this was not dropped because of a missing key.
    static let brief = Duration.seconds(2)
    /// Upper bound on remembered devices.
    static let limit = 1_000

    private var ends = BoundedMap<Int>(limit: Self.limit)

    /// Handles the end of a link that was not requested.
    ///
    /// - Parameters:
    ///   - address: the device.
    ///   - isPaired: whether BlueZ has a bond with the device.
    ///   - lasted: how long the link was up.
    ///   - wasResolved: whether its services were resolved, which requires encryption if there is a bond.
    /// - Returns: whether the bond counts as lost.
    mutating func ended(_ address: BluetoothAddress, isPaired: Bool, lasted: Duration, wasResolved: Bool) -> Bool {
        guard isPaired, !wasResolved, lasted < Self.brief else {
            ends[address] = nil
            return false
        }
        let count = min(Self.enough, (ends[address] ?? 0) + 1)
        ends[address] = count
        return count == Self.enough
    }

    /// Removes a device that was forgotten or has a working bond.
    mutating func clear(_ address: BluetoothAddress) {
        ends[address] = nil
    }
}

/// Which devices require a bond before a subscription, as far as that is known.
struct BondRequirements {
    /// Upper bound on remembered devices. A forgotten requirement is found out again.
    static let limit = 1_000

    private var requirements = BoundedMap<Bool>(limit: Self.limit)

    /// Whether a device is known to require a bond.
    func requiresBond(_ address: BluetoothAddress) -> Bool { requirements[address] == true }

    /// Whether a device is known to accept subscriptions without a bond.
    func needsNone(_ address: BluetoothAddress) -> Bool { requirements[address] == false }

    mutating func note(_ address: BluetoothAddress, requiresBond: Bool) {
        requirements[address] = requiresBond
    }

    mutating func clear(_ address: BluetoothAddress) {
        requirements[address] = nil
    }
}

/// Calls of `AcquireNotify` that bluetoothd had not answered when the link ended. They are cancelled on the next link.
struct UnansweredAcquisitions {
    /// Upper bound on remembered devices.
    static let limit = 1_000

    private var paths = BoundedMap<Set<String>>(limit: Self.limit)

    /// Stores the paths of the characteristics of a link that has ended, if there are any.
    mutating func keep(_ unanswered: Set<String>, of address: BluetoothAddress) {
        if !unanswered.isEmpty { paths[address] = unanswered }
    }

    /// Removes and returns the paths of a device, in order.
    mutating func take(_ address: BluetoothAddress) -> [String] {
        defer { paths[address] = nil }
        return (paths[address] ?? []).sorted()
    }

    /// Removes all paths, after the end of bluetoothd.
    mutating func removeAll() {
        paths.removeAll()
    }
}
