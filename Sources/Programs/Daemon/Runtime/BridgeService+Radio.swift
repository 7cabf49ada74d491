import Bluetooth
import Bridge
import Configuration
import Doctor
import EventLoop
import JacquardProtocol
import Logging
import Radios
import Tags
import Text
import Time

/// Events of the radio.
extension BridgeService {
    func radioReported(_ event: TagManager.Event) {
        switch event {
        case .tag(let tag, let event):
            if case .gear(let gear) = event, !isCertain(gear, of: tag) { return }
            logLife(event, of: tag)
            if sink.isTracing, bridge.id(of: tag) != nil { logTraffic(event, of: tag) }
            handle(.tag(tag, event))
            if case .connection(let connection) = event { noteLink(connection, of: tag) }
        case .advertised(let advertised, _, of: let tags): self.advertised(advertised, tags)
        case .adapters(let adapters):
            handle(.adapters(adapters.map { AdapterFacts($0) }))
        case .fault(let fault): bluetoothFault(fault)
        case .centralState(let state): bluetooth(state)
        case .scanning(let isScanning):
            if !isScanning { handle(.scanEnded) }
        case .duplicateSerial(let serial, let addresses):
            let addresses = addresses.map(\.description)
            handle(.duplicateSerial(serial.description, addresses: addresses))
        case .pairing(let tag, let stage): pairing(tag, stage)
        case .paired(let tag, let error): paired(tag, error)
        case .forgotten(let tag, let error): forgotten(tag, error)
        }
    }

    /// Stores whether gear is attached to a tag. If there is none on the link of a killed process that had seen some, connects the
    /// tag again: it may report gear only once for each link.
    ///
    /// - Returns: false if the report is to be ignored, because the new link brings another one.
    private func isCertain(_ gear: Component?, of tag: TagHandle) -> Bool {
        let isDoubtful = doubtfulGear.remove(tag) != nil
        guard !isDoubtful || gear != nil else {
            log(of: tag).info("reports no gear on the connection of an earlier run, and is connected again")
            manager.disconnect(tag)
            manager.connect(tag)
            return false
        }
        if let entry = bridge.entry(of: tag) { store.gearChanged(StoredTag.Key(entry), isAttached: gear != nil) }
        return true
    }

    /// Stores whether there is a link with a tag, for a process that follows a killed one.
    private func noteLink(_ connection: TagConnection, of tag: TagHandle) {
        // The states of a link follow each other quickly.
        switch connection.state {
        case .connecting(step: 0), .connected:
            guard let entry = bridge.entry(of: tag), let address = manager.address(of: tag) else { return }
            store.linkBegan(StoredTag.Key(entry), at: address.description)
        case .preparingToConnect, .disconnected:
            if let entry = bridge.entry(of: tag) { store.linkEnded(StoredTag.Key(entry)) }
        case .connecting, .initializing, .configuring: break
        }
    }

    /// Logs a gesture, and the end of a command.
    private func logTraffic(_ event: TagEvent, of tag: TagHandle) {
        switch event {
        case .gesture(let gesture): log(of: tag).trace("gesture", [(.gesture, gesture.word)])
        case .commandEnded(_, .success): log(of: tag).trace("command answered")
        case .commandEnded(_, .failure(let error)):
            log(of: tag).trace("command failed", [(.error, "\(error)")])
        default: break
        }
    }

    /// Logs an event if it changes the state of the tag. One that is being paired is logged from its addition on.
    private func logLife(_ event: TagEvent, of tag: TagHandle) {
        switch event {
        case .connection, .gear: memoryIsUnused(after: Self.settling)
        // The hot path: the clock is not read.
        default: return
        }
        guard bridge.id(of: tag) != nil, let record = life.take(event, of: tag, at: .now) else { return }
        let log = log(of: tag)
        if record.isChange {
            log.change(.info, record.message, record.variables)
        } else {
            log.info(record.message, record.variables)
        }
    }

    func log(of tag: TagHandle) -> Logger {
        log(ofTag: bridge.id(of: tag)?.text ?? "")
    }

    private func log(ofTag name: String) -> Logger {
        log.labelled("tag").with(.tag, name)
    }

    private func bluetoothFault(_ fault: AdapterFault?) {
        let cause = fault.map(doctor.cause)
        if let cause { log.change(.warning, "Bluetooth has a fault", [(.error, cause.text)]) }
        handle(.bluetoothFault(cause))
    }

    private func bluetooth(_ state: CentralState) {
        centralState = state
        switch state {
        case .unsupported, .unauthorized, .poweredOff:
            log.change(.warning, "Bluetooth cannot be used: no tag can be reached", [(.state, state.word)])
        case .unknown, .resetting, .poweredOn: log.change(.notice, "Bluetooth has changed", [(.state, state.word)])
        }
        handle(.bluetooth(AdapterFacts.State(state)))
    }

    private func advertised(_ tag: AdvertisedTag, _ known: [TagHandle]) {
        for handle in known { sighted(handle, by: tag, isPaired: tag.isPaired) }
        let advertisement = TagAdvertisement(
            address: tag.identifier.description, serial: tag.pairingSerialNumber.description,
            name: tag.displayName.isEmpty ? nil : tag.displayName, rssi: tag.rssi, isConnected: tag.isConnected)
        handle(.advertisement(advertisement))
    }

    /// Handles the advertisement of a tag of the manager.
    func sighted(_ handle: TagHandle, by tag: AdvertisedTag, isPaired: Bool) {
        let radio = central.radios?.radio(of: tag.identifier)
        let sighting = TagSighting(
            address: tag.identifier.description, adapter: radio?.adapter ?? central.adapterID, rssi: tag.rssi,
            name: tag.displayName, isPaired: isPaired, radio: radio?.name)
        self.handle(.sighting(handle, sighting))
        reportReceptions(of: handle, at: tag.identifier)
    }

    private func pairing(_ tag: TagHandle, _ stage: PairingStep) {
        let stages: [PairingStage] =
            switch stage {
            case .searching: []
            case .found(let address): [.found(address: address.description), .pairing]
            case .bonded: [.connecting]
            }
        for stage in stages { handle(.pairing(tag, stage)) }
    }

    /// A tag that Bluetooth refuses to forget stays known.
    private func forgotten(_ tag: TagHandle, _ error: TagConnectionError?) {
        guard let token = departures.removeValue(forKey: tag) else { return }
        if let error { return answer(token, .failure(RequestError(error, centralState))) }
        answer(token, .success(.done))
    }

    private func paired(_ tag: TagHandle, _ error: TagConnectionError?) {
        guard let pairing = pairings.removeValue(forKey: tag) else { return }
        let log = log(ofTag: bridge.id(of: tag)?.text ?? manager.serial(of: tag) ?? "")
        if pairing.isCheck {
            log.info("bond checked", error.map { [(.code, $0.code.word), (.error, $0.text)] } ?? [])
        } else if let error {
            log.info("pairing failed", [(.code, error.code.word), (.error, error.text)])
        } else {
            log.change(.info, "paired")
        }
        guard error == nil, let address = manager.address(of: tag) else {
            return answer(pairing.token, .failure(error.map { RequestError($0, centralState) } ?? .notFound))
        }
        let name = manager.advertisement(of: tag)?.displayName ?? ""
        answer(
            pairing.token, .success(.paired(address: address.description, name: name.isEmpty ? nil : name)))
        guard !pairing.isCheck else { return }
        // After the answer, which adds a new tag to the bridge.
        EventLoop.shared.atEndOfTurn { [weak self] in
            guard let self, let entry = bridge.entry(of: tag) else { return }
            store.markPaired(StoredTag.Key(entry))
        }
    }
}

extension RequestError {
    /// Converts the error of a failed pairing or removal.
    init(_ error: TagConnectionError, _ state: CentralState) {
        switch error.code {
        // One of several radios.
        case .bluetoothPowerOff where state == .poweredOn: self = .radioUnavailable(text: error.text)
        case .bluetoothPowerOff: self = .bluetoothUnavailable(AdapterFacts.State(state))
        case .bluetoothDeviceNotFound: self = .notFound
        case .connectionTimeout: self = .timeout(text: error.text)
        default: self = .refused(name: error.stackName ?? "\(error.code)", text: error.text)
        }
    }
}

// MARK: Several radios

extension BridgeService {
    /// Receives the changes of the radios, if there are several.
    func followRadios() {
        guard let radios = central.radios else { return }
        radios.onChange = { [unowned self] in radiosReported($0) }
        for tag in store.tags.values where tag.paired {
            if let address = tag.address.flatMap({ BluetoothAddress($0) }) { radios.requireBond(with: address) }
        }
    }

    private func radiosReported(_ change: RadioCentral.Change) {
        switch change {
        case .linked(let address, let radio, let adapter):
            guard let tag = manager.tag(at: address) else { return }
            handle(.sighting(tag, TagSighting(address: address.description, adapter: adapter, radio: radio)))
            reportReceptions(of: tag, at: address)
        case .noBond(let address, let radios):
            guard let tag = manager.tag(at: address) else { return }
            if !radios.isEmpty {
                log(of: tag).warning(
                    "received by radios without a bond only", [(.radio, radios.joined(separator: ", "))])
            }
            handle(.radio(tag, .noBond(receivedBy: radios)))
        case .lost(let address, let error): manager.correctLoss(at: address, error)
        case .bonds(let radio, let addresses, let changed):
            for address in changed {
                if let tag = manager.tag(at: address) { reportReceptions(of: tag, at: address) }
            }
            guard configuration.bluetooth.radios?.first(where: { $0.name == radio })?.proxy != nil else { return }
            runs.keep(addresses, of: radio, controller: central.radios?.controller(of: radio))
        }
    }

    /// Reports which radios receive a tag.
    func reportReceptions(of tag: TagHandle, at address: BluetoothAddress) {
        guard let radios = central.radios else { return }
        let receptions = radios.receptions(of: address).map {
            RadioReception(radio: $0.radio, rssi: $0.rssi, age: $0.age, isBonded: $0.isBonded)
        }
        handle(.radio(tag, .received(receptions)))
    }
}
