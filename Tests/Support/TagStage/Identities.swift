package import Bluetooth
package import JacquardProtocol
package import Tags

/// The manager's calls with an identity, which is added with the first of them.
extension TagManager {
    /// The handle of a tag.
    package func handle(_ identity: TagIdentity) -> TagHandle {
        let numbers = TagHandle.ofBridge.lazy.map(TagHandle.init)
        if let tag = numbers.prefix(64).first(where: { self.identity(of: $0) == identity }) { return tag }
        guard let unused = numbers.first(where: { self.identity(of: $0) == nil }) else { return .none }
        add(unused, identity)
        return unused
    }

    package func connect(_ identity: TagIdentity) { connect(handle(identity)) }

    package func disconnect(_ identity: TagIdentity) { disconnect(handle(identity)) }

    package func pair(_ identity: TagIdentity, within limit: Duration, radio: String? = nil, isCheck: Bool = false) {
        pair(handle(identity), within: limit, radio: radio, isCheck: isCheck)
    }

    package func stopPairing(_ identity: TagIdentity) { stopPairing(handle(identity)) }

    package func forget(_ identity: TagIdentity) { forget(handle(identity)) }

    package func expect(_ identity: TagIdentity, at address: BluetoothAddress) { expect(handle(identity), at: address) }

    package func enqueue(_ command: TagCommand, on identity: TagIdentity, token: UInt64) {
        enqueue(command, on: handle(identity), token: token, isFirst: false)
    }

    package func address(of identity: TagIdentity) -> BluetoothAddress? { address(of: handle(identity)) }
}
