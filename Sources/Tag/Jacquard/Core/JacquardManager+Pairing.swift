import Bluetooth
import EventLoop
import JacquardProtocol

/// A pairing in progress.
struct Pairing {
    var attempt: PairingAttempt
    /// Ends it when its time is over; released, and thereby disarmed, with it.
    let timer: LoopTimer
    /// Whether a connection had been requested before the pairing.
    let wasConnecting: Bool
    /// The radio that pairs; nil: the one that receives the tag best.
    var radio: String?
}

extension JacquardManager {
    /// Pairs with a tag and keeps it connected. Ends with one ``Event/paired(_:_:)``.
    ///
    /// After a failure, a tag is connected as before if a connection had been requested before the pairing; otherwise
    /// it is disconnected. A request during a pairing of the same tag shares that pairing and its time limit.
    ///
    /// - Parameters:
    ///   - identity: the tag. The user holds its button for three seconds.
    ///   - limit: time until the tag must be connected.
    ///   - radio: the name of the radio that pairs, if the central has several; nil: the one that receives the tag best.
    ///   - isCheck: whether to pair nothing, and to make a link with this radio once, to see whether its bond is accepted. It
    ///     fails after three links.
    public func pair(
        _ identity: TagIdentity, within limit: Duration, radio: String? = nil, isCheck: Bool = false
    ) {
        guard pairings[identity] == nil else { return }
        let timer = LoopTimer { [weak self] in
            guard let self, let attempt = pairings[identity]?.attempt else { return }
            endPairing(identity, attempt.overdue)
        }
        timer.arm(after: limit)
        let driver = tags[identity]
        let isLinked = driver?.facts.isLinked ?? false
        pairings[identity] = Pairing(
            attempt: PairingAttempt(isCheck: isCheck, isLinked: isLinked), timer: timer,
            wasConnecting: driver.map { !$0.facts.isStopped } ?? false, radio: radio)
        if let address = driver?.address ?? known[identity] { chooseRadio(for: identity, at: address) }
        driver?.isPairing = true
        onEvent?(.pairing(identity, .searching))
        connect(identity, retrying: .always, bonding: !isCheck)
        guard !isCheck else { return }
        // The session bonds on its next link. If it has a link already, bond on that one.
        if let driver, driver.session.usesLink, let address = driver.address {
            if let step = pairings[identity]?.attempt.linked(at: address) { perform(step, identity) }
            central.perform(.pair(address))
        }
    }

    /// Passes the radio of a pairing in progress to a central with several radios.
    func chooseRadio(for identity: TagIdentity, at address: BluetoothAddress) {
        guard choosesRadio, let pairing = pairings[identity] else { return }
        if pairing.attempt.isCheck, let radio = pairing.radio {
            central.perform(.checkBond(address, radio: radio))
        } else {
            central.perform(.beginPairing(address, radio: pairing.radio))
        }
    }

    /// Passes an event of a tag to the tag's pairing, if there is one.
    func updatePairing(_ identity: TagIdentity, _ event: TagEvent) {
        guard case .connection(let connection) = event, pairings[identity] != nil else { return }
        let address = tags[identity]?.address
        if let step = pairings[identity]?.attempt.changed(connection, at: address) { perform(step, identity) }
    }

    /// Handles a new bond with the tag at an address.
    func bonded(_ address: BluetoothAddress) {
        guard let driver = drivers[address], pairings[driver.identity] != nil else { return }
        let isConnected = driver.session.isConnected
        for step in pairings[driver.identity]?.attempt.bonded(isConnected: isConnected) ?? [] {
            perform(step, driver.identity)
        }
    }

    /// Handles a failed bond on a link in use. A session that waits for the bond reports the failure itself and
    /// retries.
    func bondingFailed(_ address: BluetoothAddress, _ error: BluetoothError) {
        guard let driver = drivers[address], driver.session.usesLink else { return }
        endPairing(driver.identity, TagConnectionError(error))
    }

    private func perform(_ step: PairingAttempt.Step, _ identity: TagIdentity) {
        switch step {
        case .nothing: break
        case .report(let stage): onEvent?(.pairing(identity, stage))
        case .endPause:
            guard let driver = tags[identity], driver.session.isPausing else { return }
            pairings[identity]?.attempt.pauseEnded()
            driver.drive { session, now in session.endPause(at: now) }
        case .end(let error): endPairing(identity, error)
        }
    }

    /// Ends the pairing of a tag, if there is one.
    func endPairing(_ identity: TagIdentity, _ error: TagConnectionError?) {
        guard let pairing = pairings.removeValue(forKey: identity) else { return }
        if choosesRadio, let address = tags[identity]?.address { central.perform(.endPairing(address)) }
        if error != nil || pairing.attempt.isCheck {
            if !pairing.wasConnecting { disconnect(identity) }
            if !pairing.attempt.isCheck { tags[identity]?.waiveBond() }
        } else {
            resetDuplicateReport(of: identity)
        }
        tags[identity]?.isPairing = false
        onEvent?(.paired(identity, error))
    }
}

extension JacquardManager {
    /// Forgets a tag: disconnects it, and removes its bond and its driver. Ends with ``Event/forgotten(_:_:)``.
    ///
    /// A pairing in progress ends with an error first. If the Bluetooth stack refuses, the tag stays known,
    /// disconnected, and the request can be repeated. Requests during the operation share its result.
    public func forget(_ identity: TagIdentity) {
        endPairing(identity, TagConnectionError(.bluetoothConnectionError, "the tag was forgotten during the pairing"))
        let address = tags[identity]?.address ?? known[identity]
        tags[identity]?.retention = .forgetting
        disconnect(identity)
        guard let address else {
            // After the end of the session. For a tag that was never found, it comes at the end of this turn, too.
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
            finishForgetting(
                identity,
                error.map { $0.code == .timeout ? TagConnectionError(.connectionTimeout, $0) : TagConnectionError($0) })
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
