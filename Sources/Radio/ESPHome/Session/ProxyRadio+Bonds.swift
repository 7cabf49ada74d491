import Bluetooth
import Time

/// Pairing, and what is known about bonds.
extension ProxyRadio {
    /// Uses the bonds of the proxy's controller. The proxy may have had another name or address before, or may replace another one.
    mutating func identify(_ next: BluetoothAddress?) {
        guard let next, next != controller else { return }
        if let controller { bondsByController[controller] = bonds }
        if let known = bondsByController[next] {
            bonds = known
        } else if controller != nil {
            bonds = []
        }
        controller = next
    }

    /// Pairs with a device. An existing bond is kept: a pairing that does not complete would erase it.
    mutating func pair(_ address: BluetoothAddress, at now: Instant) {
        guard isLinked(address) else { return report(.pairFailed(address, .notConnected)) }
        guard !bonds.contains(address) else { return report(.paired(address)) }
        guard links[address]?.pairingUntil == nil else { return }
        links[address]?.pairingUntil = now + Limit.pairing
        send(.device(address.number, .pair, addressType: nil))
    }

    /// Handles the result of a pairing, or of the encryption with an existing bond.
    mutating func paired(_ address: BluetoothAddress, _ isPaired: Bool, _ error: Int32, at now: Instant) {
        // ESPHome 2026.6 responds to the removal of a bond with this message.
        guard forgetting[address] == nil else { return forgotten(address) }
        guard isLinked(address), let link = links[address] else { return }
        let wasRequested = link.pairingUntil != nil
        links[address]?.pairingUntil = nil
        guard isPaired else {
            links[address]?.hasLostBond = link.wasBonded
            setBonded(address, false)
            guard wasRequested else { return }
            let text = "the pairing failed, reason \(error)"
            return report(.pairFailed(address, BluetoothError(.authenticationFailed, text: text)))
        }
        links[address]?.isEncrypted = true
        links[address]?.wasBonded = true
        setBonded(address, true)
        if wasRequested || !link.wasBonded { report(.paired(address)) }
        if case .securing = link.progress { sendOperation(of: address, at: now) }
    }

    private mutating func setBonded(_ address: BluetoothAddress, _ isBonded: Bool) {
        guard bonds.contains(address) != isBonded else { return }
        if isBonded { bonds.insert(address) } else { bonds.remove(address) }
        report(.bonds(bonds))
    }

    mutating func forget(_ address: BluetoothAddress, at now: Instant) {
        guard state == .poweredOn else {
            let error = BluetoothError(.poweredOff, text: "the proxy is not connected and cannot forget the device")
            return report(.forgotten(address, error))
        }
        guard forgetting[address] == nil else {
            forgetting[address]?.requests += 1
            return
        }
        disconnect(address, because: nil, at: now)
        forgetting[address] = Forgetting(until: now + Limit.forgetting)
        send(.device(address.number, .unpair, addressType: nil))
    }

    /// Handles the end of the removal of a bond.
    mutating func forgotten(_ address: BluetoothAddress, _ error: BluetoothError? = nil) {
        guard let forget = forgetting.removeValue(forKey: address) else { return }
        // A proxy that refuses had no bond.
        if error == nil { setBonded(address, false) }
        for _ in 0..<forget.requests { report(.forgotten(address, error)) }
    }
}
