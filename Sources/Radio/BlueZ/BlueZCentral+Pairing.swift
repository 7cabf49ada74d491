import Bluetooth
import DBus
import EventLoop
import Logging
import Time

/// Pairing, and removing bonds.
extension BlueZCentral {
    func pair(_ address: BluetoothAddress) {
        guard let peripheral = peripherals[address], isLinked(peripheral), let path = device(address)?.path else {
            return reportLater(.pairFailed(address, Self.notConnected))
        }
        pairing.insert(address)
        // Waits until `Connect` has ended. Before the link is complete, the kernel logs "security requested but not
        // available" and the pairing hangs. Observed with Linux 6.1 and bluetoothd 5.66.
        guard attempt !== peripheral else { return peripheral.wantsPairing = true }
        let message = DBusMessage.call(to: BlueZNames.service, path, BlueZNames.device, "Pair")
        call(message, within: timing.pair) { [weak self] result in
            guard let self, isLinked(peripheral) else { return }
            switch result {
            case .success: bonded(peripheral, path)
            case .failure(let error) where error.name == "org.bluez.Error.AlreadyExists": bonded(peripheral, path)
            // The tag has requested a pairing itself. `Paired` changes when there is a bond.
            case .failure(let error) where error.name == "org.bluez.Error.InProgress": break
            case .failure(let error):
                guard pairing.remove(address) != nil else { return }
                onEvent?(.pairFailed(address, BluetoothError(error)))
            }
        }
    }

    /// Handles a new bond: `Pair` has succeeded or `Paired` has become true, whichever is first. bluetoothd never
    /// answers a `Pair` whose keys are exchanged while it discovers the services for `Connect` (5.66,
    /// `device_browse_gatt`).
    func bonded(_ peripheral: Peripheral, _ path: String) {
        guard attempt !== peripheral else { return }
        // A device may also be bonded without a request, at the first access to it.
        guard pairing.remove(peripheral.address) != nil || !peripheral.wasPaired else { return }
        peripheral.wasPaired = true
        trust(path, peripheral)
    }

    /// Sets `Trusted`, so that the device can reconnect by itself without authorization.
    private func trust(_ path: String, _ peripheral: Peripheral) {
        let message = DBusMessage.call(
            to: BlueZNames.service, path, BlueZNames.properties, "Set",
            [.string(BlueZNames.device), .string("Trusted"), .variant(.boolean(true))])
        call(message) { [weak self] result in
            guard let self, isLinked(peripheral) else { return }
            if case .failure(let error) = result {
                log.warning("setting Trusted failed", [(.path, path), (.error, error.description)])
            }
            onEvent?(.paired(peripheral.address))
            bondExists(peripheral)
        }
    }

    func forget(_ address: BluetoothAddress) {
        bonds.clear(address)
        bondRequirements.clear(address)
        guard let adapter, state == .poweredOn else {
            let error = BluetoothError(.poweredOff, text: "there is no adapter to forget the device")
            return reportLater(.forgotten(address, error))
        }
        let peripheral = peripherals[address]
        guard let path = device(address)?.path else {
            disconnect(address)
            return reportLater(.forgotten(address, nil))
        }
        connects.remove(address)
        // The disconnection is a requested one, whichever signal arrives first.
        peripheral?.phase = .disconnecting
        peripheral?.cause = nil
        let message = DBusMessage.call(
            to: BlueZNames.service, adapter, BlueZNames.adapter, "RemoveDevice", [.objectPath(path)])
        call(message) { [weak self] result in
            guard let self else { return }
            if let peripheral { lost(peripheral, nil) }
            onEvent?(.forgotten(address, forgetting(address, result)))
        }
    }

    private func forgetting(_ address: BluetoothAddress, _ result: Result<DBusMessage, DBusError>) -> BluetoothError? {
        guard case .failure(let error) = result, error.name != "org.bluez.Error.DoesNotExist" else { return nil }
        // The device was reported as disconnected, so it must not stay connected.
        if device(address)?.object.isConnected == true, peripherals[address] == nil { disconnectDevice(address) {} }
        return BluetoothError(error)
    }
}

/// Bonding before the first subscription, for devices that accept subscriptions only over an encrypted link.
///
/// bluetoothd 5.66 raises the security level by itself when a device refuses an access, and then repeats the access. On
/// a busy machine this fails about once in four times: the access and all later ones of this link are never answered,
/// and a subscription is kept beyond the link. `Pair` does not have this fault. So a device that is known to require a
/// bond is paired first. If that is unknown, a readable value is read first.
extension BlueZCentral {
    /// Calls back as soon as the device accepts a subscription without another pairing, as far as that is known.
    ///
    /// - Parameters:
    ///   - peripheral: a linked device.
    ///   - next: called once, unless the link ends first.
    func whenSecure(_ peripheral: Peripheral, then next: @escaping @LoopActor () -> Void) {
        switch peripheral.security {
        case .settled: next()
        case .settling: peripheral.secured.append(next)
        case .unknown:
            guard !isPaired(peripheral), !bondRequirements.needsNone(peripheral.address) else { return next() }
            peripheral.security = .settling
            peripheral.secured = [next]
            settleSecurity(peripheral)
        }
    }

    /// Takes the next step once the link is complete, see ``pair(_:)``.
    func settleSecurity(_ peripheral: Peripheral) {
        guard isSettling(peripheral), attempt !== peripheral else { return }
        if bondRequirements.requiresBond(peripheral.address) { return bond(peripheral) }
        if peripheral.isPairingBegun { return awaitBond(peripheral) }
        let readable = peripheral.characteristics.values.sorted().first { tree.characteristics[$0]?.isReadable == true }
        if let readable { probe(peripheral, readable) } else { securitySettled(peripheral) }
    }

    /// Waits for a pairing that BlueZ has started. `Paired` ends it.
    private func awaitBond(_ peripheral: Peripheral) {
        peripheral.securityTimer = LoopTimer { [weak self] in self?.securitySettled(peripheral) }
        peripheral.securityTimer?.arm(after: timing.bond)
    }

    /// Reads a value to find out whether the device refuses it without encryption. The value itself is not used.
    private func probe(_ peripheral: Peripheral, _ path: String) {
        peripheral.isProbing = true
        peripheral.securityTimer = LoopTimer { [weak self] in self?.probeTimedOut(peripheral) }
        peripheral.securityTimer?.arm(after: timing.probe)
        let message = DBusMessage.call(
            to: BlueZNames.service, path, BlueZNames.gattCharacteristic, "ReadValue", [.properties([])])
        call(message, within: timing.bond) { [weak self] result in
            guard let self, isSettling(peripheral), peripheral.isProbing else { return }
            peripheral.isProbing = false
            peripheral.securityTimer = nil
            if case .failure(let error) = result, error.isUnencrypted, !isPaired(peripheral) {
                bondRequirements.note(peripheral.address, requiresBond: true)
                return bond(peripheral)
            }
            if !isPaired(peripheral) { bondRequirements.note(peripheral.address, requiresBond: false) }
            securitySettled(peripheral)
        }
    }

    /// Handles a read without a response. A pairing in progress may continue. After a pairing, the link is unusable.
    private func probeTimedOut(_ peripheral: Peripheral) {
        guard isSettling(peripheral), peripheral.isProbing else { return }
        guard peripheral.isPairingBegun || isPaired(peripheral) else {
            // A slow device. The value is read again on the next link.
            peripheral.isProbing = false
            return securitySettled(peripheral)
        }
        guard isPaired(peripheral) || peripheral.linkedAt + timing.bond <= .now else {
            peripheral.securityTimer?.arm(at: peripheral.linkedAt + timing.bond)
            return
        }
        dropUnresponsiveLink(peripheral)
    }

    /// Drops a link on which bluetoothd has not repeated an access after the pairing. It will not answer any other.
    private func dropUnresponsiveLink(_ peripheral: Peripheral) {
        bondRequirements.note(peripheral.address, requiresBond: true)
        log.debug("no response after a pairing", [(.address, peripheral.address.description)])
        for path in peripheral.acquiring.sorted() { cancelAcquire(path, of: peripheral) }
        drop(
            peripheral,
            because: BluetoothError(.connectionFailed, text: "bluetoothd has not repeated an access after the pairing"))
    }

    /// Handles a bond that was made on this link: an access that waits for it is answered soon or never.
    func bondExists(_ peripheral: Peripheral) {
        if isSettling(peripheral), !peripheral.isProbing { return securitySettled(peripheral) }
        guard isLinked(peripheral), peripheral.isProbing || !peripheral.acquiring.isEmpty else { return }
        peripheral.securityTimer = LoopTimer { [weak self] in
            guard let self, isLinked(peripheral), peripheral.isProbing || !peripheral.acquiring.isEmpty else { return }
            dropUnresponsiveLink(peripheral)
        }
        peripheral.securityTimer?.arm(after: timing.afterBond)
    }

    /// Whether a device may pair at its own request, or at that of bluetoothd.
    func mayPair(_ path: String) -> Bool {
        guard let address = tree.devices[path]?.address else { return false }
        peripherals[address]?.isPairingBegun = true
        return accepted.contains(address) || pairing.contains(address)
    }

    private func bond(_ peripheral: Peripheral) {
        guard let path = device(peripheral.address)?.path else { return }
        log.debug("the device requires a bond", [(.address, peripheral.address.description)])
        let message = DBusMessage.call(to: BlueZNames.service, path, BlueZNames.device, "Pair")
        call(message, within: timing.bond) { [weak self] result in
            guard let self, isSettling(peripheral) else { return }
            switch result {
            case .success: bonded(peripheral, path)
            case .failure(let error) where error.name == "org.bluez.Error.AlreadyExists": bonded(peripheral, path)
            case .failure(let error) where error.name == "org.bluez.Error.InProgress": awaitBond(peripheral)
            case .failure(let error):
                log.info(
                    "pairing failed with a device that requires a bond",
                    [(.address, peripheral.address.description), (.error, error.description)])
                securitySettled(peripheral)
            }
        }
    }

    /// Starts the waiting subscriptions: there is a bond, or none can be made.
    func securitySettled(_ peripheral: Peripheral) {
        guard isSettling(peripheral) else { return }
        peripheral.security = .settled
        peripheral.securityTimer = nil
        let waiting = peripheral.secured
        peripheral.secured = []
        for next in waiting where isLinked(peripheral) { next() }
    }

    /// Whether subscriptions of this link wait for a bond.
    func isSettling(_ peripheral: Peripheral) -> Bool {
        isLinked(peripheral) && peripheral.security == .settling
    }

    func isPaired(_ peripheral: Peripheral) -> Bool {
        device(peripheral.address)?.object.isPaired ?? false
    }
}

extension DBusError {
    /// Whether a device has refused an access because the link is not encrypted. Source: BlueZ 5.66,
    /// `create_gatt_dbus_error` in `src/gatt-client.c`.
    fileprivate var isUnencrypted: Bool {
        switch name {
        case "org.bluez.Error.NotAuthorized", "org.bluez.Error.AuthenticationFailed": true
        case "org.bluez.Error.NotPermitted": text == "Not paired"
        default: false
        }
    }
}
