import Bluetooth
import DBus
import EventLoop
import Logging
import Time

/// Bonding before the first subscription with a device that takes subscriptions over an encrypted link only.
///
/// bluetoothd 5.66 raises the security of the link by itself when a device refuses an access, and repeats the access then.
/// On a busy machine that fails about once in four times: the access and all later ones of this link are never answered, and
/// a subscription is kept beyond the link. `Pair` does not fail so. So a device that is known to want a bond gets one first, and
/// where that is not known, a value that can be read is read first.
extension BlueZCentral {
    /// Calls back as soon as the device accepts a subscription without a further pairing, as far as that is known.
    ///
    /// - Parameters:
    ///   - peripheral: a linked device.
    ///   - next: called once, unless the link ends before.
    func whenSecure(_ peripheral: Peripheral, then next: @escaping @LoopActor () -> Void) {
        switch peripheral.security {
        case .settled: next()
        case .settling: peripheral.secured.append(next)
        case .unknown:
            guard !isPaired(peripheral), !bondWishes.needsNone(peripheral.address) else {
                peripheral.security = .settled
                return next()
            }
            peripheral.security = .settling
            peripheral.secured = [next]
            settleSecurity(peripheral)
        }
    }

    /// Continues where the link has to be complete first; see ``pair(_:)``.
    func settleSecurity(_ peripheral: Peripheral) {
        guard isSettling(peripheral), attempt !== peripheral else { return }
        if bondWishes.wantsBond(peripheral.address) { return bond(peripheral) }
        if peripheral.isPairingBegun { return awaitBond(peripheral) }
        let readable = peripheral.characteristics.values.sorted().first { tree.characteristics[$0]?.isReadable == true }
        if let readable { probe(peripheral, readable) } else { securitySettled(peripheral) }
    }

    /// BlueZ pairs already; `Paired` ends it.
    private func awaitBond(_ peripheral: Peripheral) {
        peripheral.securityTimer = LoopTimer { [weak self] in self?.securitySettled(peripheral) }
        peripheral.securityTimer?.arm(after: timing.bond)
    }

    /// Reads a value. It is not needed: that a device refuses to tell it without encryption is.
    private func probe(_ peripheral: Peripheral, _ path: String) {
        peripheral.isProbing = true
        peripheral.securityTimer = LoopTimer { [weak self] in self?.probeIsLate(peripheral) }
        peripheral.securityTimer?.arm(after: timing.probe)
        let message = DBusMessage.call(
            to: BlueZNames.service, path, BlueZNames.gattCharacteristic, "ReadValue", [.properties([])])
        call(message, within: timing.bond) { [weak self] result in
            guard let self, isSettling(peripheral), peripheral.isProbing else { return }
            peripheral.isProbing = false
            peripheral.securityTimer = nil
            if case .failure(let error) = result, error.isUnencrypted, !isPaired(peripheral) {
                bondWishes.note(peripheral.address, wantsBond: true)
                return bond(peripheral)
            }
            if !isPaired(peripheral) { bondWishes.note(peripheral.address, wantsBond: false) }
            securitySettled(peripheral)
        }
    }

    /// The read has not been answered. Where a pairing has begun, it gets its time; behind the pairing, the link is of no use.
    private func probeIsLate(_ peripheral: Peripheral) {
        guard isSettling(peripheral), peripheral.isProbing else { return }
        guard peripheral.isPairingBegun || isPaired(peripheral) else {
            // A slow device. The next link asks again.
            peripheral.isProbing = false
            return securitySettled(peripheral)
        }
        guard isPaired(peripheral) || peripheral.linkedAt + timing.bond <= .now else {
            peripheral.securityTimer?.arm(at: peripheral.linkedAt + timing.bond)
            return
        }
        dropDeafLink(peripheral)
    }

    /// bluetoothd has not repeated an access after the pairing, and will answer no other one on this link.
    private func dropDeafLink(_ peripheral: Peripheral) {
        bondWishes.note(peripheral.address, wantsBond: true)
        log.debug("no answer after a pairing", [(.address, peripheral.address.description)])
        for path in peripheral.acquiring.sorted() { takeBack(path, of: peripheral) }
        drop(
            peripheral,
            because: BluetoothError(.connectionFailed, text: "bluetoothd has not repeated an access after the pairing"))
    }

    /// There is a bond: an access that waits for it is answered soon, or never.
    func bondIsMade(_ peripheral: Peripheral) {
        if isSettling(peripheral), !peripheral.isProbing { return securitySettled(peripheral) }
        guard isLinked(peripheral), peripheral.isProbing || !peripheral.acquiring.isEmpty else { return }
        peripheral.securityTimer = LoopTimer { [weak self] in
            guard let self, isLinked(peripheral), peripheral.isProbing || !peripheral.acquiring.isEmpty else { return }
            dropDeafLink(peripheral)
        }
        peripheral.securityTimer?.arm(after: timing.afterBond)
    }

    /// Whether a device may pair when it asks for it, or when bluetoothd does so by itself.
    func mayPair(_ path: String) -> Bool {
        guard let address = tree.devices[path]?.address else { return false }
        peripherals[address]?.isPairingBegun = true
        return accepted.contains(address) || pairing.contains(address)
    }

    private func bond(_ peripheral: Peripheral) {
        guard let path = device(peripheral.address)?.path else { return }
        log.debug("the device wants a bond", [(.address, peripheral.address.description)])
        let message = DBusMessage.call(to: BlueZNames.service, path, BlueZNames.device, "Pair")
        call(message, within: timing.bond) { [weak self] result in
            guard let self, isSettling(peripheral) else { return }
            switch result {
            case .success: bonded(peripheral, path)
            case .failure(let error) where error.name == "org.bluez.Error.AlreadyExists": bonded(peripheral, path)
            case .failure(let error) where error.name == "org.bluez.Error.InProgress": awaitBond(peripheral)
            case .failure(let error):
                log.info(
                    "no bond with a device that wants one",
                    [(.address, peripheral.address.description), (.error, error.description)])
                securitySettled(peripheral)
            }
        }
    }

    /// There is a bond, or none can be made: what has waited begins.
    func securitySettled(_ peripheral: Peripheral) {
        guard isSettling(peripheral) else { return }
        peripheral.security = .settled
        peripheral.securityTimer = nil
        let waiting = peripheral.secured
        peripheral.secured = []
        for next in waiting where isLinked(peripheral) { next() }
    }

    /// Whether subscriptions of this link wait for its security.
    func isSettling(_ peripheral: Peripheral) -> Bool {
        isLinked(peripheral) && peripheral.security == .settling
    }

    func isPaired(_ peripheral: Peripheral) -> Bool {
        device(peripheral.address)?.object.isPaired ?? false
    }
}

extension DBusError {
    /// Whether a device has refused an access for want of encryption. Source: BlueZ 5.66, `create_gatt_dbus_error` in
    /// `src/gatt-client.c`.
    fileprivate var isUnencrypted: Bool {
        switch name {
        case "org.bluez.Error.NotAuthorized", "org.bluez.Error.AuthenticationFailed": true
        case "org.bluez.Error.NotPermitted": text == "Not paired"
        default: false
        }
    }
}

/// Which devices want a bond before they are subscribed to, as far as that is known.
struct BondWishes {
    /// Upper bound on remembered devices.
    static let limit = 1_000

    private var wishes: [BluetoothAddress: Bool] = [:]

    func wantsBond(_ address: BluetoothAddress) -> Bool { wishes[address] == true }

    func needsNone(_ address: BluetoothAddress) -> Bool { wishes[address] == false }

    mutating func note(_ address: BluetoothAddress, wantsBond: Bool) {
        // What is forgotten is found out again.
        if wishes.count >= Self.limit, wishes[address] == nil { wishes = [:] }
        wishes[address] = wantsBond
    }

    mutating func clear(_ address: BluetoothAddress) {
        wishes[address] = nil
    }
}
