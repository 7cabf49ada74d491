import Bluetooth
import TagStage

@testable import Tags

/// The parts of a manager.
extension TagManager {
    func isTag(_ identity: TagIdentity, _ tag: AdvertisedTag) -> Bool {
        let handle = handle(identity)
        return tags(tag).contains(handle)
    }

    var tags: [TagIdentity: TagDriver] { rowsByIdentity.compactMapValues(\.driver) }

    var pairings: [TagIdentity: Pairing] { rowsByIdentity.compactMapValues(\.pairing) }
}
