import Bluetooth
import EventLoop
import JacquardProtocol

/// A pairing that is under way.
struct Pairing {
    var attempt = PairingAttempt()
    /// Ends it when its time is over; released, and thereby disarmed, with it.
    let timer: LoopTimer
    /// Whether the tag was wanted before.
    let wasWanted: Bool
}

extension JacquardManager {
    /// Pairs with a tag and keeps it connected from then on. Ends with one ``Event/paired(_:_:)``; a tag that was not wanted
    /// before is not wanted after a failure either, and one that was is connected as before.
    ///
    /// A second wish while one is under way joins it, with the first one's limit.
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
        let driver = tags[identity]
        pairings[identity] = Pairing(timer: timer, wasWanted: driver.map { !$0.facts.isStopped } ?? false)
        driver?.isPairing = true
        onEvent?(.pairing(identity, .searching))
        connect(identity, retrying: .always, bonding: true)
        // The session bonds on its next link; one that has a link already need not wait for it.
        if let driver, driver.session.usesLink, let address = driver.address {
            if let step = pairings[identity]?.attempt.linked(at: address) { carryOut(step, identity) }
            central.perform(.pair(address))
        }
    }

    /// Something was told of a tag: a pairing may be about it.
    func followPairing(_ identity: TagIdentity, _ event: TagEvent) {
        guard case .connection(let connection) = event, pairings[identity] != nil else { return }
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

    /// No bond could be made. A session that was waiting for it tells that, and tries again.
    func bondRefused(_ address: BluetoothAddress, _ error: BluetoothError) {
        guard let driver = drivers[address], driver.session.usesLink else { return }
        endPairing(driver.identity, TagConnectionError(error))
    }

    private func carryOut(_ step: PairingAttempt.Step, _ identity: TagIdentity) {
        switch step {
        case .nothing: break
        case .tell(let stage): onEvent?(.pairing(identity, stage))
        case .end(let error): endPairing(identity, error)
        }
    }

    /// Ends a pairing, if there is one.
    func endPairing(_ identity: TagIdentity, _ error: TagConnectionError?) {
        guard let pairing = pairings.removeValue(forKey: identity) else { return }
        if error != nil {
            if !pairing.wasWanted { disconnect(identity) }
            tags[identity]?.waiveBond()
        }
        tags[identity]?.isPairing = false
        onEvent?(.paired(identity, error))
    }
}
