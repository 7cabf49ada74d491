import Bluetooth
import EventLoop
import JacquardProtocol

extension JacquardManager {
    /// Forgets a tag: its link, its bond and its place here. Ends with ``Event/forgotten(_:_:)``.
    ///
    /// A pairing that is under way ends with an error first. If the stack refuses, the tag keeps its place, disconnected,
    /// so that it can be tried again. Asked twice meanwhile, it is told once.
    public func forget(_ identity: TagIdentity) {
        endPairing(identity, TagConnectionError(.bluetoothConnectionError, "the tag was forgotten meanwhile"))
        let address = tags[identity]?.address ?? known[identity]
        tags[identity]?.place = .leaving
        disconnect(identity)
        guard let address else {
            // Behind the end of its session, which a tag that was never heard is told at the same time.
            return EventLoop.shared.atEndOfTurn { [weak self] in self?.finishForgetting(identity, nil) }
        }
        let isAsked = forgetting[address] != nil
        forgetting[address, default: []].insert(identity)
        if !isAsked { central.perform(.forget(address)) }
    }

    /// The stack has forgotten a device, or refused to.
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
        // A new request to connect the tag has taken that back.
        if error == nil, let driver = tags[identity], driver.place == .leaving {
            driver.place = .forgotten
            changed(driver)
        }
        onEvent?(.forgotten(identity, error))
    }
}
