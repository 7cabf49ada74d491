import Bluetooth
import JacquardProtocol
import Time

/// The tags received recently, and detection of duplicate serials.
///
/// Holds a bounded number of tags. A new tag beyond the limit replaces the one that has been silent longest.
struct Sightings {
    private struct Sighting {
        var tag: AdvertisedTag
        /// When the tag was first received after its last long silence.
        var first: Instant
        var last: Instant
    }

    /// A tag that is silent for longer is considered gone from its address.
    static let silence = Duration.seconds(30)
    /// How long a silent tag is remembered.
    static let memory = Duration.seconds(3600)
    /// How often a duplicate serial is reported again.
    static let reportInterval = Duration.seconds(300)

    private let limit: Int
    private var sightings: [BluetoothAddress: Sighting] = [:]
    /// The addresses of each serial, none without a sighting.
    private(set) var addresses: [PairingSerial: Set<BluetoothAddress>] = [:]
    /// The devices of each duplicate serial that was reported, and when.
    private(set) var reported: [PairingSerial: (addresses: Set<BluetoothAddress>, at: Instant)] = [:]
    /// Devices that this host has a bond with, tags or not.
    var bonded: Set<BluetoothAddress> = []
    /// When silent tags are removed next.
    private var nextCleaning = Instant(sinceBoot: .zero)

    init(limit: Int = 1000) {
        self.limit = limit
    }

    /// The last advertisement from an address; nil if there was none.
    subscript(address: BluetoothAddress) -> AdvertisedTag? { sightings[address]?.tag }

    /// Whether the central has reported an advertisement or a bond of an address.
    func isKnown(_ address: BluetoothAddress) -> Bool {
        sightings[address] != nil || bonded.contains(address)
    }

    /// The address of a tag that has a link with this host, made by any program; nil if there is none.
    func connected(_ serial: PairingSerial) -> BluetoothAddress? {
        addresses[serial]?.filter { sightings[$0]?.tag.isConnected == true }.min { $0.description < $1.description }
    }

    /// Records whether this host has a bond with a device.
    mutating func note(_ address: BluetoothAddress, isBonded: Bool) {
        if isBonded { bonded.insert(address) } else { bonded.remove(address) }
    }

    /// Records an advertisement.
    ///
    /// - Parameters:
    ///   - tag: the tag.
    ///   - now: the current time.
    ///   - isInUse: whether to keep an address however long it is silent.
    mutating func record(_ tag: AdvertisedTag, at now: Instant, isInUse: (BluetoothAddress) -> Bool) {
        forgetSilent(at: now, isInUse: isInUse)
        if let known = self[tag.identifier], known.pairingSerialNumber != tag.pairingSerialNumber {
            remove(tag.identifier)
        }
        let known = sightings[tag.identifier]
        if known == nil, sightings.count >= limit { removeLongestSilent() }
        let first = known.flatMap { now - $0.last <= Self.silence ? $0.first : nil } ?? now
        sightings[tag.identifier] = Sighting(tag: tag, first: first, last: now)
        addresses[tag.pairingSerialNumber, default: []].insert(tag.identifier)
    }

    /// Returns the devices that share the serial of a tag.
    ///
    /// Two addresses are two tags, and not one that has changed its address, if each advertised after the other had
    /// appeared. A tag with a link counts although it does not advertise. A known address always counts.
    ///
    /// - Parameters:
    ///   - tag: a tag that advertises, or that the central remembers.
    ///   - now: the current time.
    ///   - known: the known addresses of tags with this serial.
    ///   - isLinked: whether there is a link with an address.
    /// - Returns: all addresses in order, including the tag's; nil if there is no other, or they were reported
    ///   recently.
    mutating func sharing(
        _ tag: AdvertisedTag, at now: Instant, known: Set<BluetoothAddress>, isLinked: (BluetoothAddress) -> Bool
    ) -> [BluetoothAddress]? {
        let serial = tag.pairingSerialNumber
        let first = sightings[tag.identifier]?.first ?? now
        var others: Set<BluetoothAddress> = []
        for address in addresses[serial] ?? [] {
            guard let last = sightings[address]?.last else { continue }
            if isLinked(address) || (last >= first && now - last <= Self.silence) { others.insert(address) }
        }
        // The tag at its own known address is no evidence of another device.
        guard !known.contains(tag.identifier) || !others.subtracting(known).isEmpty else { return nil }
        let sharing = others.union(known).union([tag.identifier])
        guard sharing.count > 1 else {
            reported[serial] = nil
            return nil
        }
        if let last = reported[serial], sharing.isSubset(of: last.addresses), now - last.at < Self.reportInterval {
            return nil
        }
        reported[serial] = (sharing, now)
        return sharing.sorted { $0.description < $1.description }
    }

    /// Removes tags that have been silent for long. Checks once a minute.
    private mutating func forgetSilent(at now: Instant, isInUse: (BluetoothAddress) -> Bool) {
        guard now >= nextCleaning else { return }
        nextCleaning = now + .seconds(60)
        for (address, sighting) in sightings where now - sighting.last > Self.memory && !isInUse(address) {
            remove(address)
        }
    }

    /// Records the new name of a tag.
    mutating func rename(_ address: BluetoothAddress, to name: String) {
        sightings[address]?.tag.displayName = name
    }

    /// Makes the next report of a duplicate serial a new one, after the tag was paired or removed.
    mutating func resetReport(of serial: PairingSerial) {
        reported[serial] = nil
    }

    /// Forgets a device.
    mutating func forget(_ address: BluetoothAddress) {
        bonded.remove(address)
        remove(address)
    }

    private mutating func remove(_ address: BluetoothAddress) {
        guard let serial = sightings.removeValue(forKey: address)?.tag.pairingSerialNumber else { return }
        addresses[serial]?.remove(address)
        guard addresses[serial]?.isEmpty == true else { return }
        addresses[serial] = nil
        reported[serial] = nil
    }

    private mutating func removeLongestSilent() {
        guard let address = sightings.min(by: { $0.value.last < $1.value.last })?.key else { return }
        remove(address)
    }
}
