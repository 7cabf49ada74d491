import DBus
import EventLoop

/// The phase of a pairing.
enum PairingPhase {
    case none
    /// It waits for the link and for the device. A call, where a client asked for it; nil where the device did.
    case waiting(BusCall?)
}

/// "Just works" pairing, the only one that a device without display and keys can do.
extension Device1 {
    /// Whether the device lets anybody at its characteristics.
    var isPairedEnough: Bool { isBonded || !(peripheral.wantsPairing || peripheral.demandsEncryption) }

    /// A device has refused an access for want of encryption: bluetoothd raises the security of the link by itself.
    /// Source: BlueZ 5.66, `change_security` in src/shared/att.c.
    func raiseSecurity() {
        guard !isBonded, case .none = pairing else { return }
        pairing = .waiting(nil)
        pairingTimer.arm(after: options.pairing)
    }

    func pair(_ call: BusCall) {
        isTemporary = false
        if case .waiting = pairing { return call.refuse(.inProgress) }
        guard !isBonded else { return call.refuse(.alreadyExists) }
        guard adapter.storage.isPowered else { return call.refuse(.noSocket) }
        guard phase != .connecting else { return call.refuse(.alreadyConnecting) }
        pairing = .waiting(call)
        switch phase {
        case .idle: requestLink()
        case .ready: pairingTimer.arm(after: options.pairing)
        // The end of service discovery goes on with it, the end of the link ends it.
        case .connecting, .resolving, .disconnecting: break
        }
    }

    func cancelPairing(_ call: BusCall) {
        guard case .waiting = pairing else {
            forgetBond()
            return call.refuse(.doesNotExist)
        }
        pairingHasFailed(.authenticationCanceled)
        if phase == .connecting { cancelConnecting(.connectionCanceled, .authenticationCanceled) }
        call.reply()
    }

    /// Handles pairing requested by the device: the kernel pairs only if an agent accepts. A client's `Pair` counts as
    /// acceptance.
    func askedForPairing() {
        guard !isBonded, case .none = pairing else { return }
        adapter.agents.requestAuthorization(path) { [weak self] isAllowed in
            guard let self, isAllowed, isConnected, !isBonded, case .none = pairing else { return }
            pairing = .waiting(nil)
            pairingTimer.arm(after: options.pairing)
        }
    }

    func pairingHasSucceeded() {
        guard case .waiting(let call) = pairing else { return }
        pairing = .none
        isTemporary = false
        adapter.storage.bonds[peripheral.address] = bond
        tree.faults.lostBonds.remove(peripheral.address)
        changed("Bonded", "Paired")
        guard !tree.faults.forgetsToAnswerPair else { return }
        call?.reply()
    }

    func pairingHasFailed(_ error: BlueZError) {
        guard case .waiting(let call) = pairing else { return }
        pairing = .none
        pairingTimer.disarm()
        if !isTrustedByUser { isTemporary = true }
        call?.refuse(error)
    }

    private func forgetBond() {
        guard adapter.storage.bonds.removeValue(forKey: peripheral.address) != nil else { return }
        changed("Bonded", "Paired")
    }
}
