import Bluetooth
import Time

/// Connecting and disconnecting.
extension ProxyRadio {
    /// The end of the attempt that is in progress; nil if there is none. One at a time: the proxy makes one link after
    /// another.
    var attempt: Instant? {
        for link in links.values {
            if case .connecting(let until) = link.phase { return until }
        }
        return nil
    }

    /// Whether a device waits, which can be neither received nor connected during an attempt.
    var isContended: Bool { links.values.contains { $0.phase == .waiting } }

    func contentionEnd(_ until: Instant) -> Instant {
        until - Limit.connecting + Limit.connectingContended
    }

    mutating func connect(_ address: BluetoothAddress, at now: Instant) {
        guard links[address] == nil else { return }
        links[address] = ProxyLink()
        order.append(address)
        connectNext(at: now)
    }

    /// Starts the next attempt if none is in progress.
    mutating func connectNext(at now: Instant) {
        guard state == .poweredOn, attempt == nil, freeLinks != 0 else { return }
        let next = order.first { address in
            guard links[address]?.phase == .waiting, releasing[address] == nil, forgetting[address] == nil,
                let received = received[address]
            else { return false }
            return now - received.at <= Limit.memory
        }
        guard let next, let device = received[next] else { return }
        links[next]?.phase = .connecting(until: now + Limit.connecting)
        send(.device(next.number, .connect, addressType: device.addressType))
    }

    mutating func linked(_ address: BluetoothAddress, mtu: UInt32, at now: Instant) {
        switch links[address]?.phase {
        case .connecting:
            links[address]?.phase = .linked
            links[address]?.wasBonded = bonds.contains(address)
            // The device does not advertise now, and is received again after the link.
            received[address] = nil
            report(.connected(address))
            reportMTU(mtu, of: address)
            publishAdapters()
            connectNext(at: now)
        case .linked: reportMTU(mtu, of: address)
        // The request to disconnect is on its way.
        case .disconnecting: break
        case .waiting, nil: send(.device(address.number, .disconnect, addressType: nil))
        }
    }

    private mutating func reportMTU(_ mtu: UInt32, of address: BluetoothAddress) {
        let range = CentralEvent.mtuRange
        let mtu = min(Int(mtu), range.upperBound)
        guard mtu >= range.lowerBound, links[address]?.mtu != mtu else { return }
        links[address]?.mtu = mtu
        report(.mtuChanged(address, mtu))
    }

    mutating func unlinked(_ address: BluetoothAddress, _ error: Int32, at now: Instant) {
        guard let link = links[address] else { return }
        var reason: BluetoothError?
        switch link.phase {
        // The second report of an earlier end.
        case .waiting: return
        case .connecting: reason = error == 0 ? .noLink : BluetoothError(linkError: error)
        case .linked:
            reason = BluetoothError(linkError: error)
            if link.hasLostBond || (link.wasBonded && reason?.code == .authenticationFailed) {
                reason = reason.map(Self.bondLost)
            }
        case .disconnecting(let cause, _): reason = cause
        }
        // The proxy reports the end twice: when the link is down, and when its slot is free.
        if allocated.contains(address.number) { releasing[address] = now + Limit.disconnecting }
        ended(address, reason)
        connectNext(at: now)
    }

    /// Returns the error with the code and text of a lost bond.
    static func bondLost(_ error: BluetoothError) -> BluetoothError {
        BluetoothError(
            .authenticationFailed, name: error.name,
            text: "the device has lost its bond with this proxy (\(error.text)): pair it again")
    }

    /// Removes a link and reports its end.
    mutating func ended(_ address: BluetoothAddress, _ error: BluetoothError?) {
        guard links.removeValue(forKey: address) != nil else { return }
        order.removeAll { $0 == address }
        report(.disconnected(address, error))
        publishAdapters()
    }

    /// Drops a link, or cancels an attempt.
    mutating func disconnect(_ address: BluetoothAddress, because error: BluetoothError?, at now: Instant) {
        switch links[address]?.phase {
        case .waiting: ended(address, error)
        case .connecting, .linked:
            links[address]?.phase = .disconnecting(error, until: now + Limit.disconnecting)
            send(.device(address.number, .disconnect, addressType: nil))
            connectNext(at: now)
        case .disconnecting, nil: break
        }
    }
}
