import Bluetooth
import DBus
import EventLoop
import Logging
import Time

/// Whether a device accepts a subscription on this link without another pairing.
@LoopActor
struct LinkSecurity {
    enum State {
        case unknown
        /// A read or a pairing is in progress.
        case settling
        case settled
    }

    var state = State.unknown
    /// Continuations to call when the state is settled.
    var waiting: [@LoopActor () -> Void] = []
    /// Whether a read that checks for a required bond is in progress.
    var isProbing = false
    /// Whether bluetoothd or the device has started a pairing on this link.
    var isPairingBegun = false
    /// Timeout of that read, or of a pairing that BlueZ has started.
    var timer: LoopTimer?

    /// Ends all waiting.
    mutating func close() {
        timer = nil
        waiting = []
    }
}

/// Bonding before the first subscription, for devices that accept subscriptions only over an encrypted link.
///
/// bluetoothd 5.66 raises the security level by itself when a device refuses an access, and then repeats the access. On
/// a busy machine this fails about once in four times: the access and all later ones of this link are never answered,
/// and a subscription is kept beyond the link. `Pair` does not have this fault. So a device that is known to require a
/// bond is paired first. If that is unknown, a readable value is read first.
extension Peripheral {
    /// Calls back as soon as the device accepts a subscription without another pairing, as far as that is known.
    ///
    /// - Parameter next: called once, unless the link ends first.
    func whenSecure(then next: @escaping @LoopActor () -> Void) {
        switch security.state {
        case .settled: next()
        case .settling: security.waiting.append(next)
        case .unknown:
            guard !isPaired, !pairing.requirements.needsNone(address) else { return next() }
            security.state = .settling
            security.waiting = [next]
            settleSecurity()
        }
    }

    /// Takes the next step once the link is complete, see ``DevicePairing/pair(_:_:)``.
    func settleSecurity() {
        guard isSettling, !isAttempted else { return }
        if pairing.requirements.requiresBond(address) { return bond() }
        if security.isPairingBegun { return awaitBond() }
        let readable = characteristics.values.sorted().first {
            context.connection.tree.characteristics[$0]?.isReadable == true
        }
        if let readable { probe(readable) } else { securitySettled() }
    }

    /// Waits for a pairing that BlueZ has started. `Paired` ends it.
    private func awaitBond() {
        security.timer = LoopTimer { [weak self] in self?.securitySettled() }
        security.timer?.arm(after: context.timing.bond)
    }

    /// Reads a value to find out whether the device refuses it without encryption. The value itself is not used.
    private func probe(_ path: String) {
        security.isProbing = true
        security.timer = LoopTimer { [weak self] in self?.probeTimedOut() }
        security.timer?.arm(after: context.timing.probe)
        callCharacteristic(path, "ReadValue", [.properties([])], within: context.timing.bond) { [weak self] result in
            guard let self, isSettling, security.isProbing else { return }
            security.isProbing = false
            security.timer = nil
            if case .failure(let error) = result, error.isUnencrypted, !isPaired {
                pairing.requirements.note(address, requiresBond: true)
                return bond()
            }
            if !isPaired { pairing.requirements.note(address, requiresBond: false) }
            securitySettled()
        }
    }

    /// Handles a read without a response. A pairing in progress may continue. After a pairing, the link is unusable.
    private func probeTimedOut() {
        guard isSettling, security.isProbing else { return }
        guard security.isPairingBegun || isPaired else {
            // A slow device. The value is read again on the next link.
            security.isProbing = false
            return securitySettled()
        }
        guard isPaired || linkedAt + context.timing.bond <= .now else {
            security.timer?.arm(at: linkedAt + context.timing.bond)
            return
        }
        dropUnresponsiveLink()
    }

    /// Drops a link on which bluetoothd has not repeated an access after the pairing. It will not answer any other.
    private func dropUnresponsiveLink() {
        pairing.requirements.note(address, requiresBond: true)
        context.log.debug("no response after a pairing", [(.address, address.description)])
        cancelAcquisitions()
        drop(
            because: BluetoothError(.connectionFailed, text: "bluetoothd has not repeated an access after the pairing"))
    }

    /// Handles a bond that was made on this link: an access that waits for it is answered soon or never.
    func bondExists() {
        if isSettling, !security.isProbing { return securitySettled() }
        guard isAwaitingAccess else { return }
        security.timer = LoopTimer { [weak self] in
            guard let self, isAwaitingAccess else { return }
            dropUnresponsiveLink()
        }
        security.timer?.arm(after: context.timing.afterBond)
    }

    private var isAwaitingAccess: Bool { isLinked && (security.isProbing || subscriptions.isAcquiring) }

    private func bond() {
        context.log.debug("the device requires a bond", [(.address, address.description)])
        pairing.pair(self, within: context.timing.bond) { peripheral, outcome in
            guard peripheral.isSettling else { return }
            switch outcome {
            case .bonded: peripheral.pairing.bonded(peripheral)
            case .begun: peripheral.awaitBond()
            case .failed(let error):
                peripheral.context.log.info(
                    "pairing failed with a device that requires a bond",
                    [(.address, peripheral.address.description), (.error, error.description)])
                peripheral.securitySettled()
            }
        }
    }

    /// Starts the waiting subscriptions: there is a bond, or none can be made.
    private func securitySettled() {
        guard isSettling else { return }
        security.state = .settled
        security.timer = nil
        let waiting = security.waiting
        security.waiting = []
        for next in waiting where isLinked { next() }
    }

    /// Whether subscriptions of this link wait for a bond.
    private var isSettling: Bool { isLinked && security.state == .settling }
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
