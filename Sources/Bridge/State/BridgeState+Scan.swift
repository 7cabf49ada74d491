import JSON

// MARK: Scanning

extension BridgeState {
    /// The Bluetooth stack has heard a tag, known or not, or is connected with one.
    ///
    /// It is published while users have asked for a scan. What it says about a known tag comes by ``sighted(_:_:at:)``.
    public mutating func advertised(_ tag: TagAdvertisement, at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        seen.heard(tag, at: now)
        let publications = noteFound(tag, at: now)
        guard !tag.isConnected, scan.admits(tag.address) else { return publish(publications) }
        let document = AdvertisementDocument(tag, isKnown: isKnown(serial: tag.serial))
        let payload = JSONText.bytes(of: document)
        return publish(
            [Publication(topic: topics.advertisement, payload: payload, qos: 0, kind: .stream)] + publications)
    }

    /// Several devices show one serial. Comes again while they do; the problem ends a while after the last time.
    ///
    /// - Parameters:
    ///   - serial: the serial.
    ///   - addresses: of the devices.
    ///   - now: the present.
    /// - Returns: what to do.
    public mutating func duplicateSerial(_ serial: String, at addresses: [String], at now: Moment) -> [BridgeAction] {
        guard !isStopped, seen.doubled(serial, at: now), !isShared(serial: serial) else { return [] }
        let stranger = addresses.first { address in
            !tags.contains { $0.entry.serial == serial && $0.sighting.address == address }
        }
        let text = "Several devices show the serial \(serial): \(addresses.joined(separator: ", "))"
        let event = event(.duplicateSerial, serial: serial, address: stranger ?? addresses.last, text: text, at: now)
        return publish([event] + healthChanged(at: now))
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

    /// Whether it is known that several tags have this serial: each has an id of its own.
    func isShared(serial: String) -> Bool {
        tags.count { $0.entry.serial == serial } > 1
    }
}
