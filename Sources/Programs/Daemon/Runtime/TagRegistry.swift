import Bluetooth
import Bridge
import Configuration
import Jacquard
import JacquardProtocol

/// Maps each known tag's name in topics to its identity on the radio, and back.
struct TagRegistry {
    private var identities: [TagID: TagIdentity] = [:]
    private var ids: [TagIdentity: TagID] = [:]
    private(set) var sightings: [TagIdentity: AdvertisedTag] = [:]

    /// Adds a tag unless its id exists. A tag with an invalid serial, from an edited file, is ignored.
    mutating func add(_ id: TagID, serial: String, address: BluetoothAddress? = nil) {
        guard identities[id] == nil, let serial = PairingSerial(serial) else { return }
        let identity = TagIdentity(serial: serial, address: address)
        identities[id] = identity
        ids[identity] = id
    }

    /// Removes a tag.
    mutating func remove(_ id: TagID) {
        guard let identity = identities.removeValue(forKey: id) else { return }
        ids[identity] = nil
        sightings[identity] = nil
    }

    /// Handles an advertisement.
    ///
    /// - Parameters:
    ///   - tag: the received tag.
    ///   - matches: whether an identity matches it.
    /// - Returns: the ids of the matching tags.
    // Not inlined: it sorts, and 20 kB of code per caller are too much.
    @inline(never)
    mutating func received(_ tag: AdvertisedTag, where matches: (TagIdentity) -> Bool) -> [TagID] {
        let matching = ids.filter { matches($0.key) }
        for identity in matching.keys { sightings[identity] = tag }
        return matching.values.sorted { $0.text < $1.text }
    }

    /// Returns the tag's identity on the radio.
    func identity(_ id: TagID) -> TagIdentity? { identities[id] }

    /// Returns the tag's name in topics.
    func id(_ identity: TagIdentity) -> TagID? { ids[identity] }

    /// Returns the identity of a known tag with a serial, or a new one.
    func identity(serial: String) -> TagIdentity? {
        PairingSerial(serial).map { serial in
            ids.keys.filter { $0.serial == serial }.min { "\($0)" < "\($1)" } ?? TagIdentity(serial: serial)
        }
    }
}
