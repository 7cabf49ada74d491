import Bluetooth
import Bridge
import Configuration
import Jacquard
import JacquardProtocol

/// Each known tag under its two names: that of topics and that of the radio.
struct TagRegistry {
    private var identities: [TagID: TagIdentity] = [:]
    private var ids: [TagIdentity: TagID] = [:]
    private(set) var sightings: [TagIdentity: AdvertisedTag] = [:]

    /// Adds a tag unless its id is there; one whose serial is none, as in a file that was edited, is left out.
    mutating func add(_ id: TagID, serial: String, address: BluetoothAddress? = nil) {
        guard identities[id] == nil, let serial = PairingSerial(serial) else { return }
        let identity = TagIdentity(serial: serial, address: address)
        identities[id] = identity
        ids[identity] = id
    }

    /// Takes a tag out.
    mutating func remove(_ id: TagID) {
        guard let identity = identities.removeValue(forKey: id) else { return }
        ids[identity] = nil
        sightings[identity] = nil
    }

    /// A tag was heard.
    ///
    /// - Parameters:
    ///   - tag: the tag.
    ///   - isThatTag: whether it is the one that is meant.
    /// - Returns: the known tags that it is.
    mutating func heard(_ tag: AdvertisedTag, where isThatTag: (TagIdentity) -> Bool) -> [TagID] {
        let heard = ids.filter { isThatTag($0.key) }
        for identity in heard.keys { sightings[identity] = tag }
        return heard.values.sorted { $0.text < $1.text }
    }

    /// The tag of the radio.
    func identity(_ id: TagID) -> TagIdentity? { identities[id] }

    /// The tag in topics.
    func id(_ identity: TagIdentity) -> TagID? { ids[identity] }

    /// The tag with a serial: the known one, or one that is not known yet.
    func identity(serial: String) -> TagIdentity? {
        PairingSerial(serial).map { serial in
            ids.keys.filter { $0.serial == serial }.min { "\($0)" < "\($1)" } ?? TagIdentity(serial: serial)
        }
    }
}
