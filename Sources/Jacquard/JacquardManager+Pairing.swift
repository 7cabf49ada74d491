import Bluetooth
import EventLoop
import JacquardProtocol

extension JacquardManager {
    /// Pairs with a tag and keeps it connected from then on. Ends with one ``Event/paired(_:_:)``; a tag that was not wanted
    /// before is not wanted after a failure either.
    ///
    /// - Parameters:
    ///   - identity: the tag; its user holds its button for three seconds.
    ///   - limit: how long it may take until the tag is connected.
    public func pair(_ identity: TagIdentity, within limit: Duration) {
        guard pairings[identity] == nil else { return }
        let timer = LoopTimer { [weak self] in
            guard let self, let attempt = pairings[identity]?.attempt else { return }
            endPairing(identity, attempt.overdue)
        }
        timer.arm(after: limit)
        pairings[identity] = Pairing(attempt: PairingAttempt(), timer: timer, wasWanted: tags[identity] != nil)
        onEvent?(.pairing(identity, .searching))
        if let driver = tags[identity], driver.session.isConnected, let address = driver.address {
            return central.perform(.pair(address))
        }
        connect(identity, bonding: true)
    }

    /// Something was told of a tag: a pairing may be about it.
    func followPairing(_ identity: TagIdentity, _ event: TagEvent) {
        guard pairings[identity] != nil, case .connection(let connection) = event else { return }
        let address = tags[identity]?.address
        if let step = pairings[identity]?.attempt.changed(connection, at: address) { carryOut(step, identity) }
    }

    /// A bond was made with the tag at an address.
    func bonded(_ address: BluetoothAddress) {
        guard let driver = drivers[address], pairings[driver.identity] != nil else { return }
        let isConnected = driver.session.isConnected
        for step in pairings[driver.identity]?.attempt.bonded(isConnected: isConnected) ?? [] {
            carryOut(step, driver.identity)
        }
    }

    /// No bond could be made. Before the tag is connected its session tells that, and tries again.
    func bondRefused(_ address: BluetoothAddress, _ error: BluetoothError) {
        guard let driver = drivers[address], driver.session.isConnected else { return }
        endPairing(driver.identity, TagConnectionError(error))
    }

    private func carryOut(_ step: PairingAttempt.Step, _ identity: TagIdentity) {
        switch step {
        case .nothing: break
        case .tell(let stage): onEvent?(.pairing(identity, stage))
        case .end(let error): endPairing(identity, error)
        }
    }

    private func endPairing(_ identity: TagIdentity, _ error: TagConnectionError?) {
        guard let pairing = pairings.removeValue(forKey: identity) else { return }
        pairing.timer.disarm()
        if error != nil, !pairing.wasWanted { disconnect(identity) }
        onEvent?(.paired(identity, error))
    }
}

/// A pairing that is under way.
struct Pairing {
    var attempt: PairingAttempt
    let timer: LoopTimer
    /// Whether the tag was wanted before.
    let wasWanted: Bool
}
