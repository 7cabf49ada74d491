import Bluetooth
import DBus
import EventLoop
import Logging
import Time

/// Making links, one after another.
extension BlueZCentral {
    func connect(_ address: BluetoothAddress) {
        guard peripherals[address] == nil else { return }
        let peripheral = Peripheral(address) { [weak self] in
            self?.continueSearches(of: address)
        } onDeaf: { [weak self] in
            self?.linkIsDeaf(address)
        }
        peripherals[address] = peripheral
        connects.add(
            address, isHeard: device(address)?.object.isThere ?? false, notBefore: crashSuspects.pause(of: address),
            at: .now)
        EventLoop.shared.atEndOfTurn { [weak self] in self?.connectNext() }
    }

    /// Begins the next attempt if none is under way.
    func connectNext() {
        guard state == .poweredOn, !isStopped, !connects.isEmpty else { return }
        guard attempt == nil else { return yieldAttempt() }
        let turn = connects.next(at: .now) { device($0) != nil }
        connectTimer.arm(at: connects.deadline)
        guard let turn, let peripheral = peripherals[turn.address], let device = device(turn.address) else { return }
        guard !device.object.isConnected || mayDropLink(of: peripheral, device.path) else {
            return leaveToOthers(peripheral)
        }
        attempt = peripheral
        peripheral.attemptedAt = .now
        updateDiscovery()
        let limit = turn.isHeard ? timing.connect : timing.connectUnheard
        guard device.object.isConnected else { return begin(peripheral, device.path, within: limit) }
        renew(peripheral, device.path, within: limit)
    }

    /// Ends the attempt that is under way when it has had its time and another device waits, which can be neither heard nor
    /// connected meanwhile. A link that is up stays, even if BlueZ has not answered `Connect` yet.
    private func yieldAttempt() {
        guard let attempt else { return }
        let due = attempt.attemptedAt + timing.connectContended
        guard due <= .now else { return yieldTimer.arm(at: due) }
        switch attempt.phase {
        case .connecting:
            let error = BluetoothError(.timeout, text: "no link in time, and other devices wait")
            drop(attempt, because: error) { [weak self] in self?.attemptOver(attempt) }
        case .linked: attemptOver(attempt)
        case .waiting, .renewing, .disconnecting: break
        }
    }

    private func mayDropLink(of peripheral: Peripheral, _ path: String) -> Bool {
        rivals.mayDropLink(of: peripheral.address, isAcquired: tree.isNotifyAcquired(below: path), at: .now)
    }

    /// Another client uses the device: the link stays as it is, and the caller may ask again later.
    private func leaveToOthers(_ peripheral: Peripheral) {
        peripheral.phase = .disconnecting
        peripheral.cause = BluetoothError(.inUse, text: "another program on this host uses the device")
        EventLoop.shared.atEndOfTurn { [weak self] in
            self?.lost(peripheral, nil)
            self?.connectNext()
        }
    }

    /// What a device tells at the beginning of a link was told to whoever made it: a former run of this program that was
    /// killed, or another client. BlueZ keeps such a link, and so it is dropped for one of our own.
    private func renew(_ peripheral: Peripheral, _ path: String, within limit: Duration) {
        log.debug("dropping a link that was there already", [(.address, peripheral.address.description)])
        peripheral.phase = .renewing
        takeDown(peripheral.address) { [weak self] in
            guard let self, attempt === peripheral else { return }
            guard peripheral.phase == .renewing else { return attemptOver(peripheral) }
            begin(peripheral, path, within: limit)
        }
    }

    private func begin(_ peripheral: Peripheral, _ path: String, within limit: Duration) {
        peripheral.phase = .connecting
        crashSuspects.begins(peripheral.address, at: .now)
        log.debug("connecting", [(.address, peripheral.address.description)])
        call(.call(to: BlueZNames.service, path, BlueZNames.device, "Connect"), within: limit) { [weak self] in
            self?.connectEnded(peripheral, path, $0)
        }
    }

    private func connectEnded(_ peripheral: Peripheral, _ path: String, _ result: Result<DBusMessage, DBusError>) {
        // The answer to an attempt that ended with its adapter or its bluetoothd.
        guard attempt === peripheral else { return }
        let isWanted = peripherals[peripheral.address] === peripheral
        switch (result, peripheral.phase) {
        // Nobody wants it any more: it was given up while BlueZ was about to succeed.
        case (.success, _) where !isWanted:
            return takeDown(peripheral.address) { [weak self] in self?.attemptOver(peripheral) }
        case (.success, .connecting):
            tree.setConnected(path)
            linkIsUp(peripheral)
        case (.failure(let error), .connecting) where isWanted,
            (.failure(let error), .linked) where isWanted && error.code != .timeout:
            log.debug(
                "connection failed", [(.address, peripheral.address.description), (.error, error.description)])
            peripheral.wasRefused = peripheral.phase == .linked
            // After a timeout of ours the attempt goes on inside BlueZ: it has to end before the next one begins.
            return drop(peripheral, because: BluetoothError(error)) { [weak self] in
                self?.attemptOver(peripheral)
            }
        default: break
        }
        attemptOver(peripheral)
    }

    private func attemptOver(_ peripheral: Peripheral) {
        guard attempt === peripheral else { return }
        attempt = nil
        if peripheral.wantsPairing {
            peripheral.wantsPairing = false
            if isLinked(peripheral) { pair(peripheral.address) }
        }
        if isLinked(peripheral), isPaired(peripheral), let path = device(peripheral.address)?.path {
            bonded(peripheral, path)
        }
        settleSecurity(peripheral)
        connectNext()
        updateDiscovery()
    }

    private func linkIsUp(_ peripheral: Peripheral) {
        guard peripheral.phase == .connecting else { return }
        peripheral.phase = .linked
        peripheral.linkedAt = .now
        peripheral.wasPaired = isPaired(peripheral)
        onEvent?(.connected(peripheral.address))
    }

    /// Properties of a device have changed.
    func deviceChanged(_ path: String) {
        guard let device = tree.devices[path], device.adapter == adapter, let address = device.address,
            let peripheral = peripherals[address]
        else { return }
        switch (peripheral.phase, device.isConnected) {
        // Somebody else has connected it; it does not advertise any more.
        case (.waiting, true):
            connects.heard(address, at: .now)
            connectNext()
        // The link is up before `Connect` returns.
        case (.connecting, true): linkIsUp(peripheral)
        case (.linked, false):
            return lost(peripheral, BluetoothError(.connectionFailed, text: "the link was lost"))
        default: break
        }
        if device.isResolved, peripheral.phase == .linked {
            peripheral.wasResolved = true
            bonds.clear(address)
            crashSuspects.survived(address)
        }
        if device.isPaired, peripheral.phase == .linked { bonded(peripheral, path) }
        continueSearches(of: address)
    }

    /// The object of a device below our adapter.
    func device(_ address: BluetoothAddress) -> (path: String, object: ObjectTree.DeviceObject)? {
        adapter.flatMap { tree.device(address, of: $0) }
    }
}
