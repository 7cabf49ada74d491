import Bluetooth
import Bridge
import Configuration
import EventLoop
import Jacquard
import JacquardProtocol
import Logging
import Radios
import Text
import Time

/// Events of the radio.
extension BridgeService {
    func radioReported(_ event: JacquardManager.Event) {
        switch event {
        case .tag(let identity, let event):
            guard let id = registry.id(identity) else { return candidates.take(event, of: identity) }
            logLife(event, of: id, at: .now)
            if sink.isTracing { logTraffic(event, of: id) }
            handle(.tag(id, event))
        case .advertised(let tag, _): advertised(tag)
        case .adapters(let adapters):
            handle(.adapters(adapters.map { AdapterFacts($0) }))
        case .centralState(let state): bluetooth(state)
        case .scanning(let isScanning):
            if !isScanning { handle(.scanEnded) }
        case .duplicateSerial(let serial, let addresses):
            let addresses = addresses.map(\.description)
            handle(.duplicateSerial(serial.description, addresses: addresses))
        case .pairing(let identity, let stage): pairing(identity, stage)
        case .paired(let identity, let error): paired(identity, error)
        case .forgotten(let identity, let error):
            guard let token = departures.removeValue(forKey: identity) else { return }
            answer(token, error.map { .failure(RequestError($0, centralState)) } ?? .success(.done))
        }
    }

    /// Logs a gesture, and the end of a command.
    private func logTraffic(_ event: TagEvent, of id: TagID) {
        switch event {
        case .gesture(let gesture): log(of: id.text).trace("gesture", [(.gesture, gesture.word)])
        case .commandEnded(_, .success): log(of: id.text).trace("command answered")
        case .commandEnded(_, .failure(let error)):
            log(of: id.text).trace("command failed", [(.error, "\(error)")])
        default: break
        }
    }

    /// Logs an event if it changes the state of the tag.
    func logLife(_ event: TagEvent, of id: TagID, at now: @autoclosure () -> Instant?) {
        switch event {
        case .connection, .gear: memoryIsUnused(after: Self.settling)
        // The hot path: the clock is not read.
        default: return
        }
        guard let record = life.take(event, of: id, at: now()) else { return }
        let log = log(of: id.text)
        if record.isChange {
            log.change(.info, record.message, record.variables)
        } else {
            log.info(record.message, record.variables)
        }
    }

    func log(of tag: String) -> Logger {
        log.labelled("tag").with(.tag, tag)
    }

    private func bluetooth(_ state: CentralState) {
        centralState = state
        switch state {
        case .unsupported, .unauthorized, .poweredOff:
            log.change(.warning, "Bluetooth cannot be used: no tag can be reached", [(.state, "\(state)")])
        case .unknown, .resetting, .poweredOn: log.change(.notice, "Bluetooth has changed", [(.state, "\(state)")])
        }
        handle(.bluetooth(AdapterFacts.State(state)))
    }

    private func advertised(_ tag: AdvertisedTag) {
        for identity in pairings.keys where manager.isTag(identity, tag) { pairings[identity]?.tag = tag }
        candidates.received(tag) { manager.isTag($0, tag) }
        sighted(tag, isPaired: tag.isPaired)
        let advertisement = TagAdvertisement(
            address: tag.identifier.description, serial: tag.pairingSerialNumber.description,
            name: tag.displayName.isEmpty ? nil : tag.displayName, rssi: tag.rssi, isConnected: tag.isConnected)
        handle(.advertisement(advertisement))
    }

    /// Handles a received tag, which may be a known one.
    func sighted(_ tag: AdvertisedTag, isPaired: Bool) {
        let radio = central.radios?.radio(of: tag.identifier)
        let sighting = TagSighting(
            address: tag.identifier.description, adapter: radio?.adapter ?? central.adapterID, rssi: tag.rssi,
            name: tag.displayName, isPaired: isPaired, radio: radio?.name)
        for id in registry.received(tag, where: { manager.isTag($0, tag) }) {
            handle(.sighting(id, sighting))
            reportReceptions(of: id, at: tag.identifier)
        }
    }

    private func pairing(_ identity: TagIdentity, _ stage: PairingStep) {
        let stages: [PairingStage] =
            switch stage {
            case .searching: []
            case .found(let address): [.found(address: address.description), .pairing]
            case .bonded: [.connecting]
            }
        for stage in stages {
            handle(.pairing(serial: identity.serial?.description ?? "", stage))
        }
    }

    private func paired(_ identity: TagIdentity, _ error: TagConnectionError?) {
        guard let pairing = pairings.removeValue(forKey: identity) else { return }
        let log = log(of: registry.id(identity)?.text ?? identity.serial?.description ?? "")
        if pairing.isCheck {
            log.info("bond checked", error.map { [(.code, $0.code.word), (.error, $0.text)] } ?? [])
        } else if let error {
            log.info("pairing failed", [(.code, error.code.word), (.error, error.text)])
        } else {
            log.change(.info, "paired")
        }
        guard error == nil, let tag = pairing.tag ?? registry.sightings[identity] else {
            _ = candidates.remove(identity)
            return answer(pairing.token, .failure(error.map { RequestError($0, centralState) } ?? .notFound))
        }
        answer(
            pairing.token,
            .success(
                .paired(
                    address: tag.identifier.description, name: tag.displayName.isEmpty ? nil : tag.displayName)))
        guard !pairing.isCheck else { return }
        // After the answer, which adds a new tag to the bridge.
        EventLoop.shared.atEndOfTurn { [weak self] in
            guard let self, let id = registry.id(identity) else { return }
            store.markPaired(id)
        }
    }
}

extension RequestError {
    /// Converts the error of a failed pairing or removal.
    init(_ error: TagConnectionError, _ state: CentralState) {
        switch error.code {
        case .bluetoothPowerOff: self = .bluetoothUnavailable(AdapterFacts.State(state))
        case .bluetoothDeviceNotFound: self = .notFound
        case .connectionTimeout: self = .timeout(text: error.text)
        default: self = .refused(name: error.stackName ?? "\(error.code)", text: error.text)
        }
    }
}
