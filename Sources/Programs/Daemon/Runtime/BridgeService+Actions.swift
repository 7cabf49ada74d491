import Bluetooth
import Bridge
import Configuration
import Doctor
import EventLoop
import JacquardProtocol
import Logging
import MQTTTypes
import Tags
import Text
import Time

extension TagCommand {
    /// Whether the tag would go on with it after the end of this process, until its battery is empty.
    fileprivate var outlivesProcess: Bool {
        switch self {
        case .motion(.stream), .motion(.download): true
        default: false
        }
    }
}

/// Performs the actions of the bridge.
extension BridgeService {
    func perform(_ action: BridgeAction, at now: Timestamp) {
        switch action {
        case .publish(let publication):
            recorder?.record(publication, at: now)
            send { $0.submit(publication, at: now.instant, arrival: arrival) }
        case .withhold(let topics): outbox.withhold(topics)
        case .republish(let topics): send { $0.republish(topics, at: now.instant) }
        case .perform(let command, on: let tag, let token, let isFirst):
            if sink.isTracing { log(of: tag).trace("command", [(.command, command.word)]) }
            if command.outlivesProcess { loseLink(of: tag) }
            manager.enqueue(command, on: tag, token: token, isFirst: isFirst)
        case .connect(let tag): manager.connect(tag)
        case .disconnect(let tag): manager.disconnect(tag)
        case .scan(let allowsDuplicates, let token): scan(allowsDuplicates, token)
        case .stopScan(let token):
            manager.stopScanning()
            answer(token, .success(.done))
        case .pair(let tag, let serial, let timeout, let radio, let isCheck, let token):
            pair(tag, serial, timeout, radio, isCheck: isCheck, token)
        case .stopPairing(let tag): manager.stopPairing(tag)
        case .forget(let tag, let token): forget(tag, token)
        case .examine(let token): examine(token)
        case .measure(let token): answer(token, .success(.measured(measurement)))
        case .trace(let query, let token): answer(token, .success(.gestures(outbox.gestures(query))))
        case .observeRawData(let views, of: let tag): manager.observeRawData(views, of: tag)
        case .file(let action, let file, of: let id):
            featureFiles.perform(action, on: file, of: id) { [weak self] in self?.handle(.file(id, file, $0)) }
        case .recordTraffic(of: let tag): recordTraffic(of: tag)
        case .setLogLevel(let level): sink.level = level
        case .followLog(let level): followLog(level)
        case .recallLog(let level, let duration, let token): recallLog(level, duration, token)
        case .subscribe(let filters): subscribe(to: filters.map { ($0, .atLeastOnce) })
        case .unsubscribe(let filters): unsubscribe(from: filters)
        case .addTag(let tag, let entry, let lastAddress):
            let address = configuration.tags.first { $0.id == entry.id }?.address
            add(tag, entry, at: address.flatMap { BluetoothAddress($0) })
            expect(tag, at: lastAddress)
        case .reportAgain(let tag):
            // The advertisement was received before the tag had its bond.
            if let advertisement = manager.advertisement(of: tag) { sighted(tag, by: advertisement, isPaired: true) }
            manager.reportAgain(tag)
        case .removeTag(let tag):
            manager.remove(tag)
            life.remove(tag)
        case .forgetInstance(let name): runs.forget(name)
        case .forgetFormerPlaces: runs.forgetFormerPlaces()
        case .remember(let record): remember(record)
        case .forgetRecord(let entry): forgetRecord(entry)
        }
    }

    /// When the value was read that is handled now.
    private var arrival: GestureArrival {
        GestureArrival(received: EventLoop.shared.wakeUpTime, read: manager.eventTime)
    }

    /// Reports the result of an action in a later turn, after the other actions of the same event.
    func answer(_ token: UInt64, _ result: Result<RequestResponse, RequestError>) {
        EventLoop.shared.atEndOfTurn { [weak self] in
            self?.handle(.requestEnded(token: token, result))
        }
    }

    /// Examines the host while the loop goes on.
    private func examine(_ token: UInt64) {
        EventLoop.shared.begin {
            let report = await self.doctor.report(
                adapter: self.configuration.bluetooth.adapter,
                isUsed: self.configuration.bluetooth.radios?.contains { $0.place == .here } ?? true)
            self.handle(.requestEnded(token: token, .success(.examined(report))))
        }
    }

    private func followLog(_ level: LogLevel?) {
        sink.listen(at: level) { [weak self] in
            EventLoop.shared.begin { self?.reportLog() }
        }
    }

    /// Selects the records when the response is handled, so that none is missing before the listener starts.
    private func recallLog(_ level: LogLevel, _ duration: Duration, _ token: UInt64) {
        EventLoop.shared.atEndOfTurn { [weak self] in
            guard let self else { return }
            let now = Timestamp.now
            let (records, since) = recentLog.records(
                at: level, since: now.instant - duration)
            let entries = records.compactMap { LogEntry($0) }
            // Two clocks and whole milliseconds: the first record may seem to be older.
            let begin = now.unixMilliseconds - (now.instant - since).milliseconds
            let past = RecalledLog(entries, since: min(begin, entries.first?.unixMilliseconds ?? begin))
            handle(.requestEnded(token: token, .success(.recalled(past))))
        }
    }

    private func reportLog() {
        let (records, omitted) = sink.takeRecords()
        handle(.logged(records.compactMap { LogEntry($0) }, omitted: omitted))
    }

    private func scan(_ allowsDuplicates: Bool, _ token: UInt64) {
        do throws(ManagerScanningError) {
            try manager.startScanning(allowsDuplicates: allowsDuplicates)
            answer(token, .success(.done))
        } catch {
            answer(token, .failure(.bluetoothUnavailable(AdapterFacts.State(centralState))))
        }
    }

    private func pair(
        _ tag: TagHandle, _ serial: String, _ timeout: Duration, _ radio: String?, isCheck: Bool, _ token: UInt64
    ) {
        guard pairings[tag] == nil else {
            return answer(token, .failure(.refused(name: "in_progress", text: "the tag is being paired already")))
        }
        pairings[tag] = (token, isCheck)
        // A tag that is known keeps its identity.
        if let serial = PairingSerial(serial) { manager.add(tag, TagIdentity(serial: serial)) }
        manager.pair(tag, within: timeout, radio: radio, isCheck: isCheck)
    }

    /// Makes the next process replace the link if this one is killed, which ends what the tag is doing.
    private func loseLink(of tag: TagHandle) {
        if let entry = bridge.entry(of: tag) { store.linkIsNotToBeUsed(StoredTag.Key(entry)) }
    }

    private func forget(_ tag: TagHandle, _ token: UInt64) {
        departures[tag] = token
        manager.forget(tag)
    }

    private func remember(_ record: TagRecord) {
        batteries.remember(record)
        let key = StoredTag.Key(id: record.id, serial: record.serial)
        store.remember(StoredTag(record, isPaired: store.tags[key]?.paired ?? false))
    }

    private func forgetRecord(_ entry: TagEntry) {
        store.forget(StoredTag.Key(entry))
        batteries.forget(entry)
        recorder?.forget(entry.id)
    }
}
