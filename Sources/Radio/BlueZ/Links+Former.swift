import Bluetooth
import DBus
import EventLoop
import Logging
import Time

/// The links of an earlier run of this program: used if their device is to be connected, and ended otherwise.
extension Links {
    /// How often a link is looked at whose former client has not left the bus.
    private static let interval = Duration.milliseconds(50)

    /// Whether the earlier run has left a link with a device on the adapter in use.
    func hasFormerLink(_ address: BluetoothAddress) -> Bool {
        former.contains(address) && context.device(address)?.object.isConnected == true
    }

    /// Handles a device without a link. One that waits for the former client to leave is connected at its turn.
    func formerLinkEnded(_ address: BluetoothAddress) {
        guard former.contains(address), context.connection.isLoaded else { return }
        former.remove(address)
        if let peripheral = peripherals[address], peripheral.phase == .waiting { enqueue(address) }
    }

    /// Uses and ends links. All at once: neither takes time of the radio that others wait for.
    func useFormerLinks() {
        guard context.state == .poweredOn, !context.isStopped, !former.isEmpty else { return }
        former.begin(at: .now)
        for address in former.addresses.sorted(by: { $0.description < $1.description }) {
            guard hasFormerLink(address), let device = context.device(address) else {
                endLinkElsewhere(address)
                continue
            }
            let peripheral = peripherals[address]
            // A link that is being ended already, or was refused a moment ago.
            guard peripheral == nil || peripheral?.phase == .waiting else { continue }
            use(address, device.path, peripheral)
        }
        if !former.isEmpty { formerTimer.arm(after: Self.interval) }
    }

    private func use(_ address: BluetoothAddress, _ path: String, _ peripheral: Peripheral?) {
        let isUsed = context.connection.tree.hasClient(below: path, besides: sessions.own)
        let step = former.step(isWanted: peripheral != nil, isUsed: isUsed, at: .now)
        guard step != .wait else { return }
        former.remove(address)
        switch (step, peripheral) {
        case (.use, let peripheral?):
            context.log.debug("using the link of an earlier run", [(.address, address.description)])
            adopt(peripheral)
        case (.leave, let peripheral?): refuseUsedLink(peripheral)
        case (.end, _): end(path)
        default: break
        }
    }

    private func end(_ path: String) {
        context.log.debug("ending a link of an earlier run", [(.path, path)])
        context.disconnect(path) { _ in }
    }

    /// Ends a link through another adapter: the configuration has named another one when it was made. A connected device does
    /// not advertise, so that the adapter in use could not receive it. The former client may take a moment to leave the bus.
    private func endLinkElsewhere(_ address: BluetoothAddress) {
        let tree = context.connection.tree
        let link = tree.devices.first { _, device in
            device.isConnected && device.adapter != context.adapter && device.address == address
                && !isOfOtherRadio(device.adapter)
        }
        if let path = link?.key {
            let step = former.stepElsewhere(isUsed: tree.hasClient(below: path), at: .now)
            guard step != .wait else { return }
            if step == .end { end(path) }
        }
        formerLinkEnded(address)
    }

    private func isOfOtherRadio(_ adapter: String) -> Bool {
        // It may choose any adapter.
        otherRadios.contains {
            $0 == .automatic || $0.path(among: context.connection.tree.adapters, inUse: nil) == adapter
        }
    }
}
