import Bluetooth
import DBus
import EventLoop
import Logging

/// A device that somebody has asked to be connected.
struct Peripheral {
    enum Phase {
        /// It waits to be heard, or for its turn.
        case waiting
        /// `Connect` is under way.
        case connecting
        /// The link is up.
        case linked
        /// `Disconnect` is under way.
        case disconnecting
    }

    var phase: Phase
    /// Whether `connected` has been told.
    var isTold = false
    /// What is being looked for on it.
    var wanted: (service: BluetoothUUID, characteristics: [BluetoothUUID])?
    /// When the service counts as missing although BlueZ says that all are resolved.
    var missingAt: ContinuousClock.Instant?
    /// Paths of its characteristics, once they are discovered.
    var characteristics: [BluetoothUUID: String] = [:]
    var channels: [NotificationChannel] = []
    /// Waits for what ought to come soon: the service, or the word that the link is down.
    var graceTimer: LoopTimer?
}

extension BlueZCentral {
    /// BlueZ gives up by itself after about 40 s; this is for one that does not.
    private static let connectLimit = Duration.seconds(45)

    func connect(_ address: BluetoothAddress) {
        guard peripherals[address] == nil else { return }
        peripherals[address] = Peripheral(phase: .waiting)
        let isHeard = device(address).map { $0.object.rssi != nil || $0.object.isConnected } ?? false
        connects.add(address, isHeard: isHeard, at: .now)
        EventLoop.shared.atEndOfTurn { [weak self] in self?.connectNext() }
    }

    func disconnect(_ address: BluetoothAddress) {
        guard let phase = peripherals[address]?.phase else { return }
        if phase == .waiting || device(address) == nil {
            EventLoop.shared.atEndOfTurn { [weak self] in self?.lost(address, nil) }
            return
        }
        guard phase != .disconnecting else { return }
        peripherals[address]?.phase = .disconnecting
        takeDown(address) { [weak self] in self?.lost(address, nil) }
    }

    /// Asks BlueZ to drop the link or the attempt; the answer comes when it is down.
    func takeDown(_ address: BluetoothAddress, then next: @escaping () -> Void) {
        guard let path = device(address)?.path else { return next() }
        call(.call(to: BlueZNames.service, path, BlueZNames.device, "Disconnect")) { [weak self] result in
            if case .failure(let error) = result {
                self?.log.debug("BlueZ refuses to disconnect", [(.path, path), (.error, error.description)])
            }
            next()
        }
    }

    /// Begins the next attempt if none is under way.
    func connectNext() {
        guard connecting == nil, state == .poweredOn, !connects.isEmpty else { return }
        guard let address = connects.next(at: .now, isKnown: { device($0) != nil }), let path = device(address)?.path
        else {
            return connectTimer.arm(at: connects.deadline)
        }
        connecting = address
        peripherals[address]?.phase = .connecting
        updateDiscovery()
        log.debug("connecting", [(.address, address.description)])
        let message = DBusMessage.call(to: BlueZNames.service, path, BlueZNames.device, "Connect")
        call(message, within: Self.connectLimit) { [weak self] in self?.connectEnded(address, $0) }
    }

    private func connectEnded(_ address: BluetoothAddress, _ result: Result<DBusMessage, DBusError>) {
        switch (result, peripherals[address]?.phase) {
        case (.success, .connecting): linked(address)
        // Nobody wants it any more: it was given up while BlueZ was about to succeed.
        case (.success, nil): return takeDown(address) { [weak self] in self?.connectSlotFreed() }
        case (.failure(let error), .connecting):
            log.debug("connection failed", [(.address, address.description), (.error, error.description)])
            // After a timeout of ours the attempt goes on inside BlueZ: it has to end before the next one begins.
            let failure = BluetoothError(error)
            peripherals[address]?.phase = .disconnecting
            return takeDown(address) { [weak self] in
                self?.lost(address, failure)
                self?.connectSlotFreed()
            }
        default: break
        }
        connectSlotFreed()
    }

    private func connectSlotFreed() {
        connecting = nil
        connectNext()
        updateDiscovery()
    }

    private func linked(_ address: BluetoothAddress) {
        guard let peripheral = peripherals[address], !peripheral.isTold else { return }
        peripherals[address]?.isTold = true
        peripherals[address]?.phase = .linked
        onEvent?(.connected(address))
    }

    /// Properties of a device have changed.
    func deviceChanged(_ path: String) {
        guard let device = tree.devices[path], device.adapter == adapter, let address = device.address else { return }
        switch (peripherals[address]?.phase, device.isConnected) {
        // The link is up before `Connect` returns, which waits for the services as well.
        case (.connecting, true): linked(address)
        case (.linked, false): lost(address, BluetoothError(.connectionFailed, text: "the link was lost"))
        default: break
        }
        if device.isConnected { finishDiscoveries() }
    }

    /// A device is not connected any more, or will not be.
    func lost(_ address: BluetoothAddress, _ error: BluetoothError?) {
        connects.remove(address)
        guard let peripheral = peripherals.removeValue(forKey: address) else { return }
        peripheral.channels.forEach { $0.cancel() }
        notifying = notifying.filter { $0.value.address != address }
        onEvent?(.disconnected(address, error))
    }

    /// All links are gone, and nothing that was begun will end.
    func loseAll(_ error: BluetoothError) {
        connecting = nil
        for address in peripherals.keys.sorted(by: { $0.description < $1.description }) { lost(address, error) }
    }

    /// Drops all links for good, at the end.
    func leave(within limit: Duration) async {
        let addresses = peripherals.filter { $0.value.phase != .waiting }.keys
        guard state == .poweredOn, !addresses.isEmpty else { return }
        await withCheckedContinuation { continuation in
            var left = addresses.count
            var timer: LoopTimer?
            let finish = {
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

    /// The object of a device below our adapter.
    func device(_ address: BluetoothAddress) -> (path: String, object: ObjectTree.DeviceObject)? {
        adapter.flatMap { tree.device(address, of: $0) }
    }
}
