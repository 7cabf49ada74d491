import Bluetooth
import DBus
import EventLoop
import Logging
import Time

/// The ends of links, wanted or not.
extension BlueZCentral {
    func disconnect(_ address: BluetoothAddress) {
        guard let peripheral = peripherals[address] else { return }
        switch peripheral.phase {
        case .waiting:
            connects.remove(address)
            peripheral.phase = .disconnecting
            EventLoop.shared.atEndOfTurn { [weak self] in self?.lost(peripheral, nil) }
        case .renewing, .connecting, .linked: drop(peripheral, because: nil)
        case .disconnecting: break
        }
    }

    /// Drops the link, or cancels the attempt, and reports when that is done.
    ///
    /// - Parameters:
    ///   - peripheral: whose.
    ///   - error: why; nil when it was asked for.
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
        takeDown(peripheral.address, then: end)
    }

    /// Asks BlueZ to drop the link or the attempt; the answer comes when it is down.
    func takeDown(_ address: BluetoothAddress, then next: @escaping @LoopActor () -> Void) {
        guard let path = device(address)?.path else { return EventLoop.shared.atEndOfTurn(next) }
        call(.call(to: BlueZNames.service, path, BlueZNames.device, "Disconnect")) { [weak self] result in
            if case .failure(let error) = result {
                self?.log.debug("BlueZ refuses to disconnect", [(.path, path), (.error, error.description)])
            }
            next()
        }
    }

    /// A device is disconnected, or its attempt has failed.
    ///
    /// - Parameters:
    ///   - peripheral: which. Nothing happens if its end has been reported already.
    ///   - error: why, unless it was on its way down for another reason.
    func lost(_ peripheral: Peripheral, _ error: BluetoothError?) {
        let address = peripheral.address
        guard peripherals[address] === peripheral else { return }
        peripheral.drain()
        // The handler of the last values may have made requests.
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

    /// The object of a device has gone. BlueZ need not say `Connected=false` before.
    func removed(_ address: BluetoothAddress) {
        bonds.clear(address)
        // Who waits to be heard goes on waiting: BlueZ forgets a device that it has not heard for 30 s.
        guard let peripheral = peripherals[address], peripheral.phase != .waiting else { return }
        lost(peripheral, BluetoothError(.notFound, text: "BlueZ has removed the device"))
    }

    /// All links are gone, and nothing that was begun will end.
    func loseAll(_ error: BluetoothError) {
        attempt = nil
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
                takeDown(address) {
                    left -= 1
                    if left == 0 { finish() }
                }
            }
        }
    }

    /// Ends the notifications of a device while the link is up. Before 5.86 bluetoothd frees the state of a descriptor when
    /// its client leaves the bus, uses that state again when the descriptor closes or the link ends, and crashes. It answers
    /// `Disconnect` before it has closed the descriptors, so that the answer is no sign that it has.
    /// Source: BlueZ 5.66, `notify_client_disconnect` and `notify_io_destroy` in `src/gatt-client.c`.
    private func releaseNotifications(_ peripheral: Peripheral) {
        guard peripheral.phase == .linked else { return peripheral.close() }
        let open = peripheral.notifications.compactMap { characteristic, notifications in
            if case .byDescriptor = notifications { peripheral.characteristics[characteristic] } else { nil }
        }
        for path in peripheral.acquiring.union(open).sorted() { takeBack(path, of: peripheral) }
        peripheral.close()
    }

    // MARK: The bond

    private func hasLostBond(_ peripheral: Peripheral) -> Bool {
        guard state == .poweredOn, peripheral.phase == .linked || peripheral.wasRefused else { return false }
        return bonds.ended(
            peripheral.address, isPaired: device(peripheral.address)?.object.isPaired ?? false,
            lasted: .now - peripheral.linkedAt, wasResolved: peripheral.wasResolved)
    }

    /// The same end, said as what it is: the layer above asks for the code, a person for the text.
    static func bondLost(_ error: BluetoothError) -> BluetoothError {
        BluetoothError(
            .authenticationFailed, name: error.name,
            text: "the device has lost its bond with this host (\(error.text)): forget it, then pair it again")
    }
}
