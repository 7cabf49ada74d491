import Bluetooth
import EventLoop
import JacquardProtocol

extension JacquardManager {
    /// Forgets a tag: disconnects it, and removes its bond and its driver. Ends with ``Event/forgotten(_:_:)``.
    ///
    /// A pairing in progress ends with an error first. If the Bluetooth stack refuses, the tag stays known,
    /// disconnected,
    /// and the request can be repeated. Requests during the operation share its result.
    public func forget(_ identity: TagIdentity) {
        endPairing(identity, TagConnectionError(.bluetoothConnectionError, "the tag was forgotten during the pairing"))
        let address = tags[identity]?.address ?? known[identity]
        tags[identity]?.retention = .forgetting
        disconnect(identity)
        guard let address else {
            // After the end of the session. For a tag that was never found, it comes at the end of this
            // turn, too.
            return EventLoop.shared.atEndOfTurn { [weak self] in self?.finishForgetting(identity, nil) }
        }
        let isRequested = forgetting[address] != nil
        forgetting[address, default: []].insert(identity)
        if !isRequested { central.perform(.forget(address)) }
    }

    /// Handles the end of a `forget` request.
    func forgotten(_ address: BluetoothAddress, _ error: BluetoothError?) {
        if error == nil {
            sightings.forget(address)
            drivers[address]?.isPaired = false
            for identity in forgetting[address] ?? [] { known[identity] = nil }
        }
        for identity in forgetting.removeValue(forKey: address) ?? [] {
            finishForgetting(identity, error.map { TagConnectionError($0) })
        }
    }

    private func finishForgetting(_ identity: TagIdentity, _ error: TagConnectionError?) {
        // A connection that was requested during the operation keeps the driver.
        if error == nil, let driver = tags[identity], driver.retention == .forgetting {
            driver.retention = .forgotten
            changed(driver)
        }
        onEvent?(.forgotten(identity, error))
    }
}
