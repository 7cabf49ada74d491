import Bluetooth
import EventLoop
public import JacquardProtocol

/// A pairing in progress.
struct Pairing {
    var attempt: PairingAttempt
    /// Ends it when its time is over; released, and thereby disarmed, with it.
    let timer: LoopTimer
    /// Whether a connection had been requested before the pairing.
    let wasConnecting: Bool
    /// The radio that pairs; nil: the one that receives the tag best.
    var radio: String?
    /// Whether this host's bond is being removed first, because the tag no longer has it.
    var isRemovingBond = false
}

extension TagManager {
    /// Pairs with a tag and keeps it connected. Ends with one ``Event/paired(_:_:)``.
    ///
    /// After a failure, a tag is connected as before if a connection had been requested before the pairing; otherwise
    /// it is disconnected. A request during a pairing of the same tag shares that pairing and its time limit. If the tag has
    /// lost its bond, that of this host is removed first: the stack would refuse to make another one.
    ///
    /// - Parameters:
    ///   - tag: the tag. The user holds its button for three seconds.
    ///   - limit: time until the tag must be connected.
    ///   - radio: the name of the radio that pairs, if the central has several; nil: the one that receives the tag best.
    ///   - isCheck: whether to pair nothing, and to make a link with this radio once, to see whether its bond is accepted. It
    ///     fails after three links.
    public func pair(
        _ tag: TagHandle, within limit: Duration, radio: String?, isCheck: Bool
    ) {
        guard let row = rows[tag], row.pairing == nil else { return }
        let timer = LoopTimer { [unowned self, unowned row] in
            guard let attempt = row.pairing?.attempt else { return }
            endPairing(row, attempt.overdue)
        }
        timer.arm(after: limit)
        let driver = row.driver
        let isLinked = driver?.facts.isLinked == true
        row.pairing = Pairing(
            attempt: PairingAttempt(isCheck: isCheck, isLinked: isLinked), timer: timer,
            wasConnecting: driver.map { !$0.facts.isStopped } ?? false, radio: radio)
        driver?.isPairing = true
        onEvent?(.pairing(row.handle, .searching))
        if !isCheck, let address = driver?.address, driver?.facts.hasLostBond == true {
            row.pairing?.isRemovingBond = true
            return central.perform(.forget(address))
        }
        beginPairing(row, isCheck: isCheck)
    }

    /// Ends the pairing of a tag with a failure; ignored for a tag that is not being paired.
    public func stopPairing(_ tag: TagHandle) {
        guard let row = rows[tag] else { return }
        endPairing(row, TagConnectionError(.bluetoothConnectionError, "the pairing was stopped"))
    }

    private func beginPairing(_ row: TagRow, isCheck: Bool) {
        let driver = row.driver
        if let address = driver?.address ?? known[row.identity] { chooseRadio(for: row, at: address) }
        connect(row, retrying: .always, bonding: !isCheck)
        guard !isCheck else { return }
        // The session bonds on its next link. If it has a link already, bond on that one.
        if let driver, driver.session.usesLink, let address = driver.address {
            if let step = row.pairing?.attempt.linked(at: address) { perform(step, row) }
            central.perform(.pair(address))
        }
    }

    /// Passes the radio of a pairing in progress to a central with several radios.
    func chooseRadio(for row: TagRow, at address: BluetoothAddress) {
        guard choosesRadio, let pairing = row.pairing else { return }
        if pairing.attempt.isCheck, let radio = pairing.radio {
            central.perform(.checkBond(address, radio: radio))
        } else {
            central.perform(.beginPairing(address, radio: pairing.radio))
        }
    }

    /// Passes an event of a tag to the tag's pairing, if there is one.
    func updatePairing(_ row: TagRow, _ event: TagEvent) {
        guard case .connection(let connection) = event, row.pairing != nil else { return }
        let address = row.driver?.address
        if let step = row.pairing?.attempt.changed(connection, at: address) { perform(step, row) }
    }

    /// Handles a new bond with the tag at an address.
    func bonded(_ address: BluetoothAddress) {
        guard let driver = drivers[address] else { return }
        let (row, isConnected) = (driver.row, driver.session.isConnected)
        for step in row.pairing?.attempt.bonded(isConnected: isConnected) ?? [] { perform(step, row) }
    }

    /// Handles a failed bond on a link in use. A session that waits for the bond reports the failure itself and
    /// retries.
    func bondingFailed(_ address: BluetoothAddress, _ error: BluetoothError) {
        guard let driver = drivers[address], driver.session.usesLink else { return }
        endPairing(driver.row, TagConnectionError(error))
    }

    private func perform(_ step: PairingAttempt.Step, _ row: TagRow) {
        switch step {
        case .nothing: break
        case .report(let stage): onEvent?(.pairing(row.handle, stage))
        case .endPause:
            guard let driver = row.driver, driver.session.isPausing else { return }
            row.pairing?.attempt.pauseEnded()
            driver.drive { session, now in session.endPause(at: now) }
        case .end(let error): endPairing(row, error)
        }
    }

    /// Ends the pairing of a tag, if there is one.
    func endPairing(_ row: TagRow, _ error: TagConnectionError?) {
        guard let pairing = row.pairing else { return }
        row.pairing = nil
        if choosesRadio, let address = row.driver?.address { central.perform(.endPairing(address)) }
        if error != nil || pairing.attempt.isCheck {
            if !pairing.wasConnecting { disconnect(row) }
            if !pairing.attempt.isCheck { row.driver?.waiveBond() }
        } else {
            resetDuplicateReport(of: row)
        }
        row.driver?.isPairing = false
        onEvent?(.paired(row.handle, error))
        endIfUnused(row)
    }
}

extension TagManager {
    /// Forgets a tag: disconnects it, and removes its bond and its driver. Ends with ``Event/forgotten(_:_:)``.
    ///
    /// A pairing in progress ends with an error first. If the Bluetooth stack refuses, the tag stays known,
    /// disconnected, and the request can be repeated. Requests during the operation share its result.
    public func forget(_ tag: TagHandle) {
        guard let row = rows[tag] else {
            return EventLoop.shared.atEndOfTurn { [self] in onEvent?(.forgotten(tag, nil)) }
        }
        endPairing(row, TagConnectionError(.bluetoothConnectionError, "the tag was forgotten during the pairing"))
        let address = row.driver?.address ?? known[row.identity]
        row.driver?.retention = .forgetting
        disconnect(row)
        guard let address else {
            // After the end of the session. For a tag that was never found, it comes at the end of this turn, too.
            return EventLoop.shared.atEndOfTurn { [self] in finishForgetting(row, nil) }
        }
        let isRequested = forgetting[address] != nil
        if forgetting[address]?.contains(where: { $0 === row }) != true { forgetting[address, default: []].append(row) }
        if !isRequested { central.perform(.forget(address)) }
    }

    /// Handles the end of a `forget` request.
    func forgotten(_ address: BluetoothAddress, _ error: BluetoothError?) {
        if error == nil {
            sightings.forget(address)
            drivers[address]?.isPaired = false
            for row in forgetting[address] ?? [] { known[row.identity] = nil }
        }
        if let row = drivers[address]?.row, row.pairing?.isRemovingBond == true {
            row.pairing?.isRemovingBond = false
            beginPairing(row, isCheck: false)
        }
        for row in forgetting.removeValue(forKey: address) ?? [] {
            finishForgetting(
                row,
                error.map { $0.code == .timeout ? TagConnectionError(.connectionTimeout, $0) : TagConnectionError($0) })
        }
    }

    private func finishForgetting(_ row: TagRow, _ error: TagConnectionError?) {
        // A connection that was requested during the operation keeps the driver.
        if error == nil, let driver = row.driver, driver.retention == .forgetting {
            driver.retention = .forgotten
            changed(driver)
        }
        onEvent?(.forgotten(row.handle, error))
    }
}
