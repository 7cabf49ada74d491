import DBus
import EventLoop

/// A client's StartNotify.
struct NotifySession {
    /// How often bluetoothd has registered it with the device: once, and again by a StartNotify after a reconnection
    /// that it had survived. Each registration signals every value. Seen with bluetoothd 5.66.
    var registrations = 1
    /// Whether it comes from an earlier link.
    var isFromEarlierLink = false
}

/// AcquireNotify, which only one client at a time has.
enum Acquisition {
    case none
    /// The device has not confirmed yet. When the link ends before it does, bluetoothd neither answers the call nor forgets
    /// it, and refuses each later one. Source: BlueZ 5.66, `btd_gatt_client_disconnected` in src/gatt-client.c.
    case pending
    case open(NotifySocket)

    var isOpen: Bool {
        if case .open = self { true } else { false }
    }

    var isNone: Bool {
        if case .none = self { true } else { false }
    }
}

extension GattCharacteristic1 {
    // MARK: Calls

    func acquireNotify(_ call: BusCall) {
        guard device.isConnected else { return call.refuse(.linkIsDown) }
        guard notifies, device.options.allowsAcquireNotify else { return call.refuse(.notSupported) }
        guard acquisition.isNone else { return call.refuse(.notPermitted("Notify acquired")) }
        guard sessions.isEmpty else { return call.refuse(.inProgress) }
        acquisition = .pending
        device.bearer.request { [self] isAnswered in
            guard isAnswered else { return }
            guard device.isPairedEnough else {
                guard !device.tree.faults.losesSubscriptions else { return device.raiseSecurity() }
                acquisition = .none
                return call.refuse(.notPaired)
            }
            handOut(call)
        }
    }

    private func handOut(_ call: BusCall) {
        guard let socket = try? NotifySocket(), let clientEnd = socket.takeClientEnd() else {
            acquisition = .none
            return call.refuse(.failed("Too many open files"))
        }
        socket.onClosed = { [weak self] in self?.clientHasClosed() }
        socket.onRoom = { [weak self] in self?.remainingDevice?.peripheral.hasRoom() }
        // The device gets what is written in its order.
        if unsubscribeTimer.isArmed { unsubscribe() }
        acquisition = .open(socket)
        changed("NotifyAcquired")
        call.reply(.descriptor(clientEnd), .uint16(device.options.mtu))
        device.peripheral.subscribed(uuid, isOn: true)
    }

    func startNotify(_ call: BusCall) {
        guard !device.isDisconnecting else { return call.refuse(.notConnected) }
        guard acquisition.isNone else { return call.refuse(.notPermitted("Notify acquired")) }
        guard notifies else { return call.refuse(.notSupported) }
        if var session = sessions[call.sender] {
            if session.isFromEarlierLink, device.isConnected {
                session.isFromEarlierLink = false
                session.registrations += 1
                sessions[call.sender] = session
            }
            return call.reply()
        }
        sessions[call.sender] = NotifySession()
        // Without a link bluetoothd says yes and subscribes with the next one.
        guard device.isConnected else { return call.reply() }
        device.bearer.request { [self] isAnswered in
            guard isAnswered, device.isPairedEnough else {
                sessions[call.sender] = nil
                return call.refuse(isAnswered ? .notPaired : .linkEnded)
            }
            beginNotifying()
            call.reply()
            device.peripheral.subscribed(uuid, isOn: true)
        }
    }

    func stopNotify(_ call: BusCall) {
        if !acquisition.isNone {
            release()
            return call.reply()
        }
        guard sessions[call.sender] != nil else { return call.refuse(.failed("No notify session started")) }
        endSession(of: call.sender)
        call.reply()
    }

    // MARK: Events

    /// Reports a value that the device notifies.
    func notify(_ value: [UInt8]) -> NotifyOutcome {
        if case .open(let socket) = acquisition { return socket.send(value) }
        guard isNotifying, !sessions.isEmpty else { return .nobody }
        self.value = value
        for _ in 0..<(sessions.values.map(\.registrations).max() ?? 1) {
            // Not collected: every value is signalled, even if it equals the previous one.
            changed("Value")
            device.tree.flush()
        }
        return .delivered
    }

    /// The services are resolved: sessions that have survived an earlier link are subscribed again.
    func linkIsReady() {
        guard !sessions.isEmpty else { return }
        device.bearer.request { [self] isAnswered in
            guard isAnswered, !sessions.isEmpty else { return }
            beginNotifying()
            device.peripheral.subscribed(uuid, isOn: true)
        }
    }

    /// The link has gone. Sockets end; sessions stay, and `Notifying` with them, as long as the object does.
    func linkHasGone() {
        for client in sessions.keys { sessions[client]?.isFromEarlierLink = true }
        closeWriteSocket()
        releaseTimer.disarm()
        unsubscribeTimer.disarm()
        guard acquisition.isOpen else { return }
        acquisition = .none
        changed("NotifyAcquired")
    }

    func endSession(of client: String) {
        guard sessions.removeValue(forKey: client) != nil, sessions.isEmpty else { return }
        if isNotifying {
            isNotifying = false
            changed("Notifying")
        }
        if device.isConnected { device.peripheral.subscribed(uuid, isOn: false) }
    }

    private func beginNotifying() {
        guard !isNotifying else { return }
        isNotifying = true
        changed("Notifying")
    }

    /// The client's end of the descriptor was closed. bluetoothd takes note of it a little later.
    private func clientHasClosed() {
        guard let remainingDevice else { return }
        releaseTimer.arm(after: remainingDevice.options.descriptorRelease)
    }

    func releaseLate() {
        guard acquisition.isOpen, let remainingDevice else { return }
        acquisition = .none
        changed("NotifyAcquired")
        unsubscribeTimer.arm(after: remainingDevice.options.unsubscription)
    }

    func unsubscribe() {
        unsubscribeTimer.disarm()
        if let remainingDevice, remainingDevice.isConnected { remainingDevice.peripheral.subscribed(uuid, isOn: false) }
    }

    func release() {
        releaseTimer.disarm()
        guard !acquisition.isNone else { return }
        acquisition = .none
        changed("NotifyAcquired")
        if device.isConnected { device.peripheral.subscribed(uuid, isOn: false) }
    }
}
