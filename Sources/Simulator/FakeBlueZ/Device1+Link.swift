import DBus
import EventLoop

extension Device1: PeripheralLink {
    var isConnected: Bool {
        switch phase {
        case .idle, .connecting: false
        case .resolving, .ready, .disconnecting: true
        }
    }

    var isDisconnecting: Bool { phase == .disconnecting }

    // MARK: Calls

    func connect(_ call: BusCall) {
        if isConnected { return call.reply() }
        guard phase == .idle else { return call.refuse(.alreadyConnecting) }
        isTemporary = false
        guard adapter.storage.isPowered else { return call.refuse(.noSocket) }
        connectCall = call
        requestLink()
    }

    func disconnect(_ call: BusCall) {
        if phase == .connecting { cancelConnecting(.connectionCanceled, .authenticationCanceled) }
        guard isConnected else { return call.reply() }
        disconnectCalls.append(call)
        guard phase != .disconnecting else { return }
        phase = .disconnecting
        stepTimer.disarm()
        disconnectTimer.arm(after: options.disconnectDelay)
    }

    func requestLink() {
        phase = .connecting
        connectTimer.arm(after: options.connectTimeout)
        adapter.links.request(self)
    }

    func connectHasTimedOut() {
        cancelConnecting(.connectionAborted, .pairingAborted)
    }

    /// Gives up the attempt; who waits for it gets the error.
    func cancelConnecting(_ connectError: BlueZError, _ pairError: BlueZError) {
        guard phase == .connecting else { return }
        phase = .idle
        connectTimer.disarm()
        adapter.links.cancel(self)
        connectCall?.refuse(connectError)
        connectCall = nil
        pairingHasFailed(pairError)
        seen()
    }

    // MARK: The link's life

    /// The link is up.
    func linkIsUp() {
        connectTimer.disarm()
        phase = .resolving
        changed("Connected")
        if isBonded, tree.faults.lostBonds.contains(peripheral.address) { return encryptionHasFailed() }
        peripheral.linked(self, mtu: Int(options.mtu))
        if !options.answersConnectWhenResolved { answerConnect() }
        stepTimer.arm(after: options.serviceDiscovery)
        if peripheral.wantsPairing { askedForPairing() }
    }

    /// The services are known: their objects come first, `ServicesResolved` behind them.
    func servicesAreKnown() {
        guard phase == .resolving, !tree.faults.resolvesNothing else { return }
        phase = .ready
        if tree.faults.hidesServices { return resolvedWithoutServices() }
        let isPartial = services.contains { $0.characteristics.isEmpty }
        if isPartial || tree.faults.hidesCharacteristics { removeServices() }
        if services.isEmpty, !tree.faults.resolvesBeforeObjects { exportServices() }
        servicesResolved = true
        changed("ServicesResolved")
        if services.isEmpty {
            tree.flush()
            exportServices()
        }
        if options.answersConnectWhenResolved { answerConnect() }
        for characteristic in services.flatMap(\.characteristics) { characteristic.linkIsReady() }
        if case .waiting = pairing { pairingTimer.arm(after: options.pairing) }
    }

    private func resolvedWithoutServices() {
        removeServices()
        servicesResolved = true
        changed("ServicesResolved")
    }

    /// The device does not know the key: bluetoothd has no other word for it than for every failure.
    private func encryptionHasFailed() {
        connectCall?.refuse(.connectionAborted)
        connectCall = nil
        dropLink()
    }

    /// Closes the clients' descriptors without a signal.
    func closeDescriptors() {
        for characteristic in services.flatMap(\.characteristics) {
            if characteristic.acquisition.isOpen { characteristic.release() }
            characteristic.closeWriteSocket()
        }
    }

    private func answerConnect() {
        connectCall?.reply()
        connectCall = nil
    }

    private func exportServices() {
        // Where a tag's own service begins behind those of every device.
        var handle = 0x0A
        for service in peripheral.services {
            let characteristics = tree.faults.hidesCharacteristics ? [] : service.characteristics
            let shown = GATTService(uuid: service.uuid, characteristics: characteristics)
            services.append(GattService1(shown, firstHandle: handle, of: self))
            handle += 0x10
        }
        for service in services {
            tree.add(service)
            for characteristic in service.characteristics { tree.add(characteristic) }
        }
    }

    /// The device ends the link, or it is lost.
    func drop(because end: LinkDrop) {
        dropLink(end)
    }

    /// Ends the link, or takes note of its end.
    func dropLink(_ end: LinkDrop = .local) {
        guard isConnected else { return }
        disconnectTimer.disarm()
        stepTimer.disarm()
        phase = .idle
        for characteristic in services.flatMap(\.characteristics) { characteristic.linkHasGone() }
        bearer.close()
        if servicesResolved {
            servicesResolved = false
            changed("ServicesResolved")
        }
        if options.reportsReasons {
            tree.signal(self, "org.bluez.Device1", "Disconnected", "org.bluez.Reason." + end.rawValue, end.message)
        }
        changed("Connected")
        connectCall?.refuse(.connectionCanceled)
        connectCall = nil
        pairingHasFailed(.authenticationCanceled)
        peripheral.unlinked()
        if !keepsServices { removeServices() }
        for call in disconnectCalls { call.reply() }
        disconnectCalls = []
        seen()
        if isToBeRemoved { adapter.remove(self) }
    }

    func removeServices() {
        for service in services {
            for characteristic in service.characteristics.reversed() { tree.remove(characteristic) }
            tree.remove(service)
        }
        services = []
    }

    private var keepsServices: Bool {
        switch options.gattCache {
        case .always: true
        case .bonded: isBonded
        case .never: false
        }
    }

    // MARK: Values

    func notify(_ value: [UInt8], on characteristic: String) -> NotifyOutcome {
        services.lazy.flatMap(\.characteristics).first { $0.uuid == characteristic }?.notify(value) ?? .nobody
    }

    func clientLeft(_ client: String) {
        for characteristic in services.flatMap(\.characteristics) { characteristic.endSession(of: client) }
        if case .waiting(let call) = pairing, call?.sender == client {
            // bluetoothd ends the link with a pairing whose client has left.
            pairing = .none
            if phase == .connecting {
                cancelConnecting(.connectionCanceled, .authenticationCanceled)
            } else {
                dropLink()
            }
        }
    }
}
