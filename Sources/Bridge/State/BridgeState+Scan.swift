import JSON

// MARK: Scanning

extension BridgeState {
    /// The Bluetooth stack has heard a tag, known or not, or is connected with one.
    ///
    /// It is published while users have asked for a scan. What it says about a known tag comes by ``sighted(_:_:at:)``.
    public mutating func advertised(_ tag: TagAdvertisement, at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        var publications: [Publication] = []
        if seen.heard(tag, isOtherLinked: isLinked(tag.serial, elsewhereThan: tag.address), at: now),
            !isShared(serial: tag.serial)
        {
            let text = "Two tags with the serial \(tag.serial) are in reach"
            publications.append(event(.duplicateSerial, serial: tag.serial, address: tag.address, text: text, at: now))
            publications += healthChanged(at: now)
        }
        publications += noteFound(tag, at: now)
        guard !tag.isConnected, scan.admits(tag.address) else { return publish(publications) }
        let document = AdvertisementDocument(tag, isKnown: isKnown(serial: tag.serial))
        let payload = JSONText.bytes(of: document)
        return publish(
            [Publication(topic: topics.advertisement, payload: payload, qos: 0, kind: .stream)] + publications)
    }

    /// The scan of users has ended although nobody asked for that; nothing happens if there was none.
    public mutating func scanEnded(at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        defer { updateDeadline() }
        return publish(scanEnded(because: "ended by Bluetooth", at: now))
    }

    /// The scan is over. Where users have asked for that, the event belongs to the answer that they get.
    mutating func scanEnded(because reason: String, at now: Moment) -> [Publication] {
        guard scan.end() else { return [] }
        let facts = [scanFact] + foundFact
        return scan.pendingStops > 0 ? facts : facts + [event(.scanStopped, text: reason, at: now)]
    }

    /// The scan that users have asked for runs.
    mutating func scanBegan(for duration: Duration, allowsDuplicates: Bool, at now: Moment) -> [BridgeAction] {
        let isNew = scan.begin(until: now + duration, allowsDuplicates: allowsDuplicates)
        if isNew { found.begin(at: now) }
        return publish(isNew ? [scanFact] + foundFact + [event(.scanStarted, at: now)] : [scanFact])
    }

    /// Ends the scan whose time is over.
    mutating func endScanInTime(at now: Moment) -> [BridgeAction] {
        guard let until = scan.until, until.instant <= now.instant else { return [] }
        let publications = scanEnded(because: "its time is over", at: now)
        return [.stopScan(token: desk.spareToken())] + publish(publications)
    }

    var scanFact: Publication { .fact(topics.scan, ScanDocument(scan)) }

    /// Whether a tag of this serial is one of the bridge's.
    func isKnown(serial: String) -> Bool {
        tags.contains { $0.entry.serial == serial }
    }

    /// Whether a tag of this serial is connected at another address.
    private func isLinked(_ serial: String, elsewhereThan address: String) -> Bool {
        tags.contains { tag in
            tag.entry.serial == serial && tag.isConnected && tag.sighting.address.map { $0 != address } ?? false
        }
    }

    /// Whether it is known that several tags have this serial: each has an id of its own.
    func isShared(serial: String) -> Bool {
        tags.count { $0.entry.serial == serial } > 1
    }
}
