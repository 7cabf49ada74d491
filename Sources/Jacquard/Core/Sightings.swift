import Bluetooth
import JacquardProtocol
import Time

/// Who was heard when: what is known of the devices around, and whether two tags go by one serial.
///
/// Holds at most so many tags; who floods the air with made-up addresses pushes out the one that has been silent longest.
struct Sightings {
    private struct Sighting {
        var tag: AdvertisedTag
        /// Since when it has been heard without a long silence.
        var first: Instant
        var last: Instant
    }

    /// How long a tag may be silent at its address before it is believed to be gone from there.
    static let silence = Duration.seconds(30)
    /// How long a tag that is silent is remembered.
    static let memory = Duration.seconds(3600)
    /// How often devices that go on sharing a serial are reported again.
    static let reportInterval = Duration.seconds(300)

    private let limit: Int
    private var sightings: [BluetoothAddress: Sighting] = [:]
    private var addresses: [PairingSerial: Set<BluetoothAddress>] = [:]
    /// Devices that have been reported to share a serial, while they do, and when.
    private var reported: [PairingSerial: (addresses: Set<BluetoothAddress>, at: Instant)] = [:]
    /// Devices that this host has a bond with, as the central tells it; it need not know what they are.
    var bonded: Set<BluetoothAddress> = []
    /// When those that have been silent for long are forgotten.
    private var nextCleaning = Instant(sinceBoot: .zero)

    init(limit: Int = 1000) {
        self.limit = limit
    }

    /// What was heard last at an address; nil if nothing was.
    subscript(address: BluetoothAddress) -> AdvertisedTag? { sightings[address]?.tag }

    /// Whether the central has told anything of an address.
    func isKnown(_ address: BluetoothAddress) -> Bool {
        sightings[address] != nil || bonded.contains(address)
    }

    /// Notes whether this host has a bond with a device.
    mutating func note(_ address: BluetoothAddress, isBonded: Bool) {
        if isBonded { bonded.insert(address) } else { bonded.remove(address) }
    }

    /// Notes a tag that was heard.
    ///
    /// - Parameters:
    ///   - tag: the tag.
    ///   - now: the time.
    ///   - isInUse: whether what is known of an address is still needed, however long it is silent.
    mutating func hear(_ tag: AdvertisedTag, at now: Instant, isInUse: (BluetoothAddress) -> Bool) {
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

    /// Whether other devices show the serial of a tag that advertises, or that the central remembers.
    ///
    /// Two tags, and not one that has changed its address, are there when each advertised after the other had appeared. A
    /// tag with a link does not advertise and is there all the same, and a known address belongs to its tag for good.
    ///
    /// - Parameters:
    ///   - tag: the tag.
    ///   - now: the time.
    ///   - known: the addresses at which tags of its serial are known.
    ///   - isLinked: whether there is a link with an address.
    /// - Returns: all of them in order, the tag included; nil if there is no other or that was reported lately.
    mutating func sharing(
        _ tag: AdvertisedTag, at now: Instant, known: Set<BluetoothAddress>, isLinked: (BluetoothAddress) -> Bool
    ) -> [BluetoothAddress]? {
        let serial = tag.pairingSerialNumber
        let first = sightings[tag.identifier]?.first ?? now
        let others = (addresses[serial] ?? []).filter { address in
            guard let other = sightings[address] else { return false }
            return isLinked(address) || (other.last >= first && now - other.last <= Self.silence)
        }
        // The tag itself, at its known address, says nothing new about the others.
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

    /// Forgets tags that have been silent for long; looked at once a minute.
    private mutating func forgetSilent(at now: Instant, isInUse: (BluetoothAddress) -> Bool) {
        guard now >= nextCleaning else { return }
        nextCleaning = now + .seconds(60)
        for (address, sighting) in sightings where now - sighting.last > Self.memory && !isInUse(address) {
            remove(address)
        }
    }

    /// A tag has been given another name, which it will advertise.
    mutating func rename(_ address: BluetoothAddress, to name: String) {
        sightings[address]?.tag.displayName = name
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
