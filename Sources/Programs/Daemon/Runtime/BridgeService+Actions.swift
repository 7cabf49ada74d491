import Bluetooth
import Bridge
import Configuration
import Doctor
import EventLoop
import Jacquard
import JacquardProtocol
import Logging
import Text
import Time

/// Performs the actions of the bridge.
extension BridgeService {
    func perform(_ action: BridgeAction, at now: Timestamp) {
        switch action {
        case .publish(let publication):
            recorder?.record(publication, at: now)
            send { $0.submit(publication, at: now.instant, arrival: arrival) }
        case .withhold(let topics): outbox.withhold(topics)
        case .republish(let topics): send { $0.republish(topics, at: now.instant) }
        case .perform(let command, on: let id, let token, let isFirst):
            if sink.isTracing { log(of: id.text).trace("command", [(.command, command.word)]) }
            withIdentity(id) { manager.enqueue(command, on: $0, token: token, isFirst: isFirst) }
        case .connect(let id): withIdentity(id) { manager.connect($0) }
        case .disconnect(let id): withIdentity(id) { manager.disconnect($0) }
        case .scan(let allowsDuplicates, let token): scan(allowsDuplicates, token)
        case .stopScan(let token):
            manager.stopScanning()
            answer(token, .success(.done))
        case .pair(let serial, let timeout, let radio, let isCheck, let token):
            pair(serial, timeout, radio, isCheck: isCheck, token)
        case .forget(let id, let token): forget(id, token)
        case .examine(let token): examine(token)
        case .measure(let token): answer(token, .success(.measured(measurement)))
        case .trace(let query, let token): answer(token, .success(.gestures(outbox.gestures(query))))
        case .observeRawData(let views, of: let id): withIdentity(id) { manager.observeRawData(views, of: $0) }
        case .motionFile(let action, of: let id):
            motionFiles.perform(action, of: id, configuration.bridge.motion) { [weak self] in
                self?.handle(.motionFile(id, $0))
            }
        case .recordTraffic(of: let id): recordTraffic(of: id)
        case .setLogLevel(let level): sink.level = level
        case .followLog(let level): followLog(level)
        case .recallLog(let level, let duration, let token): recallLog(level, duration, token)
        case .subscribe(let filters): subscribe(to: filters.map { ($0, 1) })
        case .unsubscribe(let filters): unsubscribe(from: filters)
        case .addTag(let entry): add(entry)
        case .removeTag(let id):
            registry.remove(id)
            life.remove(id)
        case .forgetInstance(let name): runs.forget(name)
        case .remember(let record): remember(record)
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

    private func withIdentity(_ id: TagID, _ body: (TagIdentity) -> Void) {
        if let identity = registry.identity(id) { body(identity) }
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

    private func pair(_ serial: String, _ timeout: Duration, _ radio: String?, isCheck: Bool, _ token: UInt64) {
        guard let identity = registry.identity(serial: serial), pairings[identity] == nil else {
            return answer(token, .failure(.refused(name: "in_progress", text: "the tag is being paired already")))
        }
        pairings[identity] = (token, nil, isCheck)
        if registry.id(identity) == nil { candidates.expect(identity) }
        manager.pair(identity, within: timeout, radio: radio, isCheck: isCheck)
    }

    /// Adds a tag, with the events that it reported while it was paired.
    private func add(_ entry: TagEntry) {
        registry.add(entry.id, serial: entry.serial)
        guard let candidate = registry.identity(entry.id).flatMap({ candidates.remove($0) }) else { return }
        // It was received before it had its bond.
        if let tag = candidate.advertised { sighted(tag, isPaired: true) }
        for event in candidate.events {
            logLife(event, of: entry.id, at: nil)
            handle(.tag(entry.id, event))
        }
    }

    private func forget(_ id: TagID, _ token: UInt64) {
        store.forget(id)
        batteries.forget(id)
        recorder?.forget(id)
        guard let identity = registry.identity(id) else { return answer(token, .success(.done)) }
        departures[identity] = token
        manager.forget(identity)
    }

    private func remember(_ record: TagRecord) {
        batteries.remember(record)
        store.remember(StoredTag(record, isPaired: store.tags[record.id]?.paired ?? false))
    }
}
