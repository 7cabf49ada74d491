import Bluetooth
import JacquardProtocol

@testable import Jacquard

/// The manager's calls with an identity, which is added with the first of them.
extension JacquardManager {
    /// The handle of a tag.
    func handle(_ identity: TagIdentity) -> TagHandle {
        if let row = rowsByIdentity[identity], row.isOwned { return row.handle }
        let last = rows.keys.map(\.number).max() ?? 0
        add(TagHandle(number: last + 1), identity)
        return TagHandle(number: last + 1)
    }

    func connect(_ identity: TagIdentity) { connect(handle(identity)) }

    func disconnect(_ identity: TagIdentity) { disconnect(handle(identity)) }

    func pair(_ identity: TagIdentity, within limit: Duration, radio: String? = nil, isCheck: Bool = false) {
        pair(handle(identity), within: limit, radio: radio, isCheck: isCheck)
    }

    func forget(_ identity: TagIdentity) { forget(handle(identity)) }

    func expect(_ identity: TagIdentity, at address: BluetoothAddress) { expect(handle(identity), at: address) }

    func enqueue(_ command: TagCommand, on identity: TagIdentity, token: UInt64) {
        enqueue(command, on: handle(identity), token: token)
    }

    func address(of identity: TagIdentity) -> BluetoothAddress? { address(of: handle(identity)) }

    func isTag(_ identity: TagIdentity, _ tag: AdvertisedTag) -> Bool {
        let handle = handle(identity)
        return tags(tag).contains(handle)
    }

    /// The identity of a handle.
    func identity(of tag: TagHandle) -> TagIdentity? {
        rowsByIdentity.first { $0.value.handle == tag }?.key
    }

    var tags: [TagIdentity: TagDriver] { rowsByIdentity.compactMapValues(\.driver) }

    var pairings: [TagIdentity: Pairing] { rowsByIdentity.compactMapValues(\.pairing) }

    var followers: [TagIdentity: ConnectionFollower] { rowsByIdentity.compactMapValues(\.follower) }
}
