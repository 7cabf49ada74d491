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

    private let limit: Int
    private var sightings: [BluetoothAddress: Sighting] = [:]
    private var addresses: [PairingSerial: Set<BluetoothAddress>] = [:]
    /// Who has been reported to share a serial, while they do.
    private var reported: [PairingSerial: Set<BluetoothAddress>] = [:]
    /// Devices that this host has a bond with, as the central tells it; it need not know what they are.
    private(set) var bonded: Set<BluetoothAddress> = []

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
    ///   - isLinked: whether there is a link with an address: who is linked does not advertise and is there all the same.
    /// - Returns: who shares its serial, it included, in order; nil if nobody does or if that was reported before.
    mutating func hear(
        _ tag: AdvertisedTag, at now: Instant, isLinked: (BluetoothAddress) -> Bool
    ) -> [BluetoothAddress]? {
        if let known = self[tag.identifier], known.pairingSerialNumber != tag.pairingSerialNumber {
            remove(tag.identifier)
        }
        let known = sightings[tag.identifier]
        if known == nil, sightings.count >= limit { removeLongestSilent() }
        let first = known.flatMap { now - $0.last <= Self.silence ? $0.first : nil } ?? now
        sightings[tag.identifier] = Sighting(tag: tag, first: first, last: now)
        addresses[tag.pairingSerialNumber, default: []].insert(tag.identifier)
        return news(of: tag, heardSince: first, at: now, isLinked: isLinked)
    }

    /// Two tags, and not one that has changed its address, are there when each was heard after the other had appeared.
    private mutating func news(
        of tag: AdvertisedTag, heardSince first: Instant, at now: Instant,
        isLinked: (BluetoothAddress) -> Bool
    ) -> [BluetoothAddress]? {
        let serial = tag.pairingSerialNumber
        let sharing = (addresses[serial] ?? []).filter { address in
            guard address != tag.identifier, let other = sightings[address] else { return true }
            return isLinked(address) || (other.last >= first && now - other.last <= Self.silence)
        }
        guard sharing.count > 1 else {
            reported[serial] = nil
            return nil
        }
        guard !sharing.isSubset(of: reported[serial] ?? []) else { return nil }
        reported[serial] = sharing
        return sharing.sorted { $0.description < $1.description }
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
