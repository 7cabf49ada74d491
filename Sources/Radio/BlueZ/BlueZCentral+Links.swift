import Bluetooth
import DBus
import EventLoop
import Logging
import Time

/// Connections, one attempt at a time.
extension BlueZCentral {
    func connect(_ address: BluetoothAddress) {
        guard peripherals[address] == nil else { return }
        let peripheral = Peripheral(address) { [weak self] in
            self?.continueSearches(of: address)
        } onLinkEndDue: { [weak self] in
            self?.notificationsEnded(address)
        }
        peripherals[address] = peripheral
        connects.add(
            address, isHeard: device(address)?.object.isInRange ?? false, notBefore: crashSuspects.pause(of: address),
            at: .now)
        EventLoop.shared.atEndOfTurn { [weak self] in self?.connectNext() }
    }

    /// Starts the next attempt if none is in progress.
    func connectNext() {
        guard state == .poweredOn, !isStopped, !connects.isEmpty else { return }
        guard attempt == nil else { return endContendedAttempt() }
        let turn = connects.next(at: .now) { device($0) != nil }
        connectTimer.arm(at: connects.deadline)
        guard let turn, let peripheral = peripherals[turn.address], let device = device(turn.address) else { return }
        let use = device.object.isConnected ? useOfLink(of: peripheral.address, device.path) : nil
        if use == .refuse { return refuseUsedLink(peripheral) }
        attempt = peripheral
        peripheral.attemptedAt = .now
        updateDiscovery()
        let limit = turn.isHeard ? timing.connect : timing.connectUnheard
        if use == .replace { return replaceLink(peripheral, device.path, within: limit) }
        begin(peripheral, device.path, within: limit)
    }

    /// Ends the current attempt when its time is over and another device waits, which can be neither heard nor
    /// connected during the attempt. A link that is up is kept, even if BlueZ has not answered `Connect` yet.
    private func endContendedAttempt() {
        guard let attempt else { return }
        let due = attempt.attemptedAt + timing.connectContended
        guard due <= .now else { return contentionTimer.arm(at: due) }
        switch attempt.phase {
        case .connecting:
            let error = BluetoothError(.timeout, text: "no link in time, and other devices wait")
            drop(attempt, because: error) { [weak self] in self?.attemptEnded(attempt) }
        case .linked: attemptEnded(attempt)
        case .waiting, .replacing, .disconnecting: break
        }
    }

    private func useOfLink(of address: BluetoothAddress, _ path: String) -> ForeignLinks.Use {
        foreignLinks.use(of: address, hasClient: tree.hasClient(below: path, besides: ownSessions), at: .now)
    }

    /// Refuses to connect a device that another client uses. The caller may retry later.
    private func refuseUsedLink(_ peripheral: Peripheral) {
        peripheral.phase = .disconnecting
        peripheral.cause = BluetoothError(.inUse, text: "another program on this host uses the device")
        EventLoop.shared.atEndOfTurn { [weak self] in
            self?.lost(peripheral, nil)
            self?.connectNext()
        }
    }

    /// Replaces a link that existed before: left by a killed run of this program, or made by another client or by BlueZ
    /// itself. What the device has sent at the start of that link is lost, and so the link is dropped and made again.
    private func replaceLink(_ peripheral: Peripheral, _ path: String, within limit: Duration) {
        log.debug("replacing an existing link", [(.address, peripheral.address.description)])
        peripheral.phase = .replacing
        disconnectDevice(peripheral.address) { [weak self] in
            guard let self, attempt === peripheral else { return }
            guard peripheral.phase == .replacing else { return attemptEnded(peripheral) }
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
        // The attempt ended earlier, with its adapter or its bluetoothd.
        guard attempt === peripheral else { return }
        let isWanted = peripherals[peripheral.address] === peripheral
        switch (result, peripheral.phase) {
        // The attempt was cancelled while BlueZ was about to succeed.
        case (.success, _) where !isWanted:
            return disconnectDevice(peripheral.address) { [weak self] in self?.attemptEnded(peripheral) }
        case (.success, .connecting):
            tree.setConnected(path)
            linkIsUp(peripheral)
        case (.failure(let error), .connecting) where isWanted,
            (.failure(let error), .linked) where isWanted && error.code != .timeout:
            log.debug(
                "connection failed", [(.address, peripheral.address.description), (.error, error.description)])
            peripheral.wasRefused = peripheral.phase == .linked
            // After a timeout, the attempt continues inside BlueZ. It must end before the next one starts.
            return drop(peripheral, because: BluetoothError(error)) { [weak self] in
                self?.attemptEnded(peripheral)
            }
        default: break
        }
        attemptEnded(peripheral)
    }

    private func attemptEnded(_ peripheral: Peripheral) {
        guard attempt === peripheral else { return }
        attempt = nil
        if connects.isEmpty { contentionTimer.disarm() }
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

    /// Handles changed properties of a device.
    func deviceChanged(_ path: String) {
        guard let device = tree.devices[path], device.adapter == adapter, let address = device.address,
            let peripheral = peripherals[address]
        else { return }
        switch (peripheral.phase, device.isConnected) {
        // Another client has connected it. A connected device does not advertise.
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

    /// Returns the object of a device below the adapter in use.
    func device(_ address: BluetoothAddress) -> (path: String, object: ObjectTree.DeviceObject)? {
        adapter.flatMap { tree.device(address, of: $0) }
    }
}

/// Disconnections, requested or not.
extension BlueZCentral {
    func disconnect(_ address: BluetoothAddress) {
        guard let peripheral = peripherals[address] else { return }
        switch peripheral.phase {
        case .waiting:
            connects.remove(address)
            EventLoop.shared.atEndOfTurn { [weak self] in self?.lost(peripheral, nil) }
        case .replacing, .connecting, .linked: drop(peripheral, because: nil)
        case .disconnecting: break
        }
    }

    /// Drops the link or cancels the attempt, and reports it when it is done.
    ///
    /// - Parameters:
    ///   - peripheral: the device.
    ///   - error: the cause; nil if it was requested.
    ///   - next: called last.
    func drop(
        _ peripheral: Peripheral, because error: BluetoothError?, then next: @escaping @LoopActor () -> Void = {}
    ) {
        peripheral.phase = .disconnecting
        peripheral.cause = error
        let end: @LoopActor () -> Void = { [weak self] in
            self?.lost(peripheral, error)
            next()
        }
        guard !peripheral.isShared else { return EventLoop.shared.atEndOfTurn(end) }
        disconnectDevice(peripheral.address, then: end)
    }

    /// Calls `Disconnect`. BlueZ answers when the link or the attempt has ended.
    func disconnectDevice(_ address: BluetoothAddress, then next: @escaping @LoopActor () -> Void) {
        guard let path = device(address)?.path else { return EventLoop.shared.atEndOfTurn(next) }
        call(.call(to: BlueZNames.service, path, BlueZNames.device, "Disconnect")) { [weak self] result in
            if case .failure(let error) = result {
                self?.log.debug("disconnecting failed", [(.path, path), (.error, error.description)])
            }
            next()
        }
    }

    /// Handles the end of a link or of an attempt.
    ///
    /// - Parameters:
    ///   - peripheral: the device. Nothing happens if its end was reported already.
    ///   - error: the cause, unless the device was already being disconnected for another one.
    func lost(_ peripheral: Peripheral, _ error: BluetoothError?) {
        let address = peripheral.address
        guard peripherals[address] === peripheral else { return }
        peripheral.drain()
        // The handler of the last values may have made requests that ended the link.
        guard peripherals[address] === peripheral else { return }
        connects.remove(address)
        peripherals[address] = nil
        pairing.remove(address)
        notifying = notifying.filter { $0.value.peripheral !== peripheral }
        let hasLostBond = hasLostBond(peripheral)
        unansweredAcquisitions.keep(peripheral.acquiring, of: address)
        peripheral.close()
        let reason = peripheral.phase == .disconnecting ? peripheral.cause : error
        onEvent?(.disconnected(address, hasLostBond ? reason.map(Self.bondLost) : reason))
    }

    /// Handles a removed object of a device. BlueZ may remove it without sending `Connected=false` first.
    func deviceRemoved(_ address: BluetoothAddress) {
        bonds.clear(address)
        // A device that waits to be heard keeps waiting: BlueZ removes a device that it has not heard for 30 s.
        guard let peripheral = peripherals[address], peripheral.phase != .waiting else { return }
        lost(peripheral, BluetoothError(.notFound, text: "BlueZ has removed the device"))
    }

    /// Ends all links and attempts at once. No answers to pending calls will arrive.
    func endAllLinks(_ error: BluetoothError) {
        attempt = nil
        contentionTimer.disarm()
        let all = peripherals.values.sorted { $0.address.description < $1.address.description }
        for peripheral in all { lost(peripheral, error) }
    }

    /// Drops all links for good, at the end.
    func leave(within limit: Duration) async {
        let all = peripherals.values.filter { $0.phase != .waiting }
        guard state == .poweredOn, !all.isEmpty else { return }
        all.forEach(releaseNotifications)
        let addresses = all.filter { !$0.isShared }.map(\.address)
        guard !addresses.isEmpty else { return }
        await withCheckedContinuation { continuation in
            var left = addresses.count
            var timer: LoopTimer?
            let finish: @LoopActor () -> Void = {
                guard timer != nil else { return }
                timer = nil
                continuation.resume()
            }
            timer = LoopTimer(handler: finish)
            timer?.arm(after: limit)
            for address in addresses {
                disconnectDevice(address) {
                    left -= 1
                    if left == 0 { finish() }
                }
            }
        }
    }

    /// Ends the notifications of a device while the link is up. Before 5.86, bluetoothd frees the state of a descriptor
    /// when its client leaves the bus, uses that state again when the descriptor closes or the link ends, and crashes.
    /// Waiting for the answer to `Disconnect` does not help: bluetoothd answers before it has closed the descriptors.
    /// Source: BlueZ 5.66, `notify_client_disconnect` and `notify_io_destroy` in `src/gatt-client.c`.
    private func releaseNotifications(_ peripheral: Peripheral) {
        // A write that was refused for the moment must not be repeated, nor a pairing begun.
        defer { peripheral.phase = .disconnecting }
        guard peripheral.phase == .linked else { return peripheral.close() }
        let open = peripheral.notifications.compactMap { characteristic, notifications in
            if case .byDescriptor = notifications { peripheral.characteristics[characteristic] } else { nil }
        }
        for path in peripheral.acquiring.union(open).sorted() { cancelAcquire(path, of: peripheral) }
        peripheral.close()
    }

    // MARK: The bond

    private func hasLostBond(_ peripheral: Peripheral) -> Bool {
        guard state == .poweredOn, peripheral.phase == .linked || peripheral.wasRefused else { return false }
        return bonds.ended(
            peripheral.address, isPaired: isPaired(peripheral), lasted: .now - peripheral.linkedAt,
            wasResolved: peripheral.wasResolved)
    }

    /// Returns the error with the code and text of a lost bond.
    static func bondLost(_ error: BluetoothError) -> BluetoothError {
        BluetoothError(
            .authenticationFailed, name: error.name,
            text: "the device has lost its bond with this host (\(error.text)): forget it, then pair it again")
    }
}
