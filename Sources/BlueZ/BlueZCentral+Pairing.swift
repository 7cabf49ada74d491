import Bluetooth
import DBus
import EventLoop
import Logging

/// Bonds: making them and forgetting them.
extension BlueZCentral {
    func pair(_ address: BluetoothAddress) {
        guard let peripheral = peripherals[address], isLinked(peripheral), let path = device(address)?.path else {
            return tellLater(.pairFailed(address, Self.notConnected))
        }
        pairing.insert(address)
        // The kernel has no place for security messages before the link is complete: it says "security requested but not
        // available", and the pairing hangs. Seen with Linux 6.1 and bluetoothd 5.66.
        guard attempt !== peripheral else { return peripheral.wantsPairing = true }
        let message = DBusMessage.call(to: BlueZNames.service, path, BlueZNames.device, "Pair")
        call(message, within: timing.pair) { [weak self] result in
            guard let self, isLinked(peripheral) else { return }
            switch result {
            case .success: bonded(peripheral, path)
            case .failure(let error) where error.name == "org.bluez.Error.AlreadyExists": bonded(peripheral, path)
            // The tag has asked for one itself: `Paired` tells when there is a bond.
            case .failure(let error) where error.name == "org.bluez.Error.InProgress": break
            case .failure(let error):
                guard pairing.remove(address) != nil else { return }
                onEvent?(.pairFailed(address, BluetoothError(error)))
            }
        }
    }

    /// There is a bond: `Pair` has returned, or `Paired` has become true, whichever is first. bluetoothd never answers a `Pair`
    /// whose keys are exchanged while it discovers the services for `Connect` (5.66, `device_browse_gatt`).
    func bonded(_ peripheral: Peripheral, _ path: String) {
        guard attempt !== peripheral else { return }
        // A device may want its bond without being asked: the first access to it makes one.
        guard pairing.remove(peripheral.address) != nil || !peripheral.wasPaired else { return }
        peripheral.wasPaired = true
        trust(path, peripheral)
    }

    /// A trusted device may come back by itself without anybody being asked.
    private func trust(_ path: String, _ peripheral: Peripheral) {
        let message = DBusMessage.call(
            to: BlueZNames.service, path, BlueZNames.properties, "Set",
            [.string(BlueZNames.device), .string("Trusted"), .variant(.boolean(true))])
        call(message) { [weak self] result in
            guard let self, isLinked(peripheral) else { return }
            if case .failure(let error) = result {
                log.warning("BlueZ does not trust a bonded device", [(.path, path), (.error, error.description)])
            }
            onEvent?(.paired(peripheral.address))
            bondIsMade(peripheral)
        }
    }

    func forget(_ address: BluetoothAddress) {
        bonds.clear(address)
        bondWishes.clear(address)
        guard let adapter, state == .poweredOn else {
            let error = BluetoothError(.poweredOff, text: "there is no adapter to forget the device")
            return tellLater(.forgotten(address, error))
        }
        let peripheral = peripherals[address]
        guard let path = device(address)?.path else {
            disconnect(address)
            return tellLater(.forgotten(address, nil))
        }
        connects.remove(address)
        // Its end is asked for, whatever BlueZ tells first.
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
        // What was told as disconnected is not to stay connected.
        if device(address)?.object.isConnected == true, peripherals[address] == nil { takeDown(address) {} }
        return BluetoothError(error)
    }
}
