import JSON

// MARK: Scanning

extension BridgeState {
    /// Handles a tag, known or not, that advertises or is connected to the host.
    ///
    /// It is published during a requested scan. Facts about known tags arrive through ``sighted(_:_:at:)``.
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

    /// Handles several devices with one serial. Repeated while the condition lasts; the problem ends some time after
    /// the last report.
    ///
    /// - Parameters:
    ///   - serial: the serial.
    ///   - addresses: the addresses of the devices.
    ///   - now: the current time.
    /// - Returns: the actions to perform.
    public mutating func duplicateSerial(_ serial: String, at addresses: [String], at now: Moment) -> [BridgeAction] {
        guard !isStopped, seen.doubled(serial, at: now), !isShared(serial: serial) else { return [] }
        let stranger = addresses.first { address in
            !tags.contains { $0.entry.serial == serial && $0.sighting.address == address }
        }
        let text = "Several devices show the serial \(serial): \(addresses.joined(separator: ", "))"
        let event = event(.duplicateSerial, serial: serial, address: stranger ?? addresses.last, text: text, at: now)
        return publish([event] + healthChanged(at: now))
    }

    /// Handles the unexpected end of a requested scan; ignored if none was running.
    public mutating func scanEnded(at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        defer { updateDeadline() }
        return publish(scanEnded(because: "ended by Bluetooth", at: now))
    }

    /// Ends the scan. If a user requested that, the event is published with the result.
    mutating func scanEnded(because reason: String, at now: Moment) -> [Publication] {
        guard scan.end() else { return [] }
        let facts = [scanFact] + foundFact
        return scan.pendingStops > 0 ? facts : facts + [event(.scanStopped, text: reason, at: now)]
    }

    /// Handles the start of a requested scan.
    mutating func scanBegan(for duration: Duration, allowsDuplicates: Bool, at now: Moment) -> [BridgeAction] {
        let isNew = scan.begin(until: now + duration, allowsDuplicates: allowsDuplicates)
        if isNew { found.begin(at: now) }
        return publish(isNew ? [scanFact] + foundFact + [event(.scanStarted, at: now)] : [scanFact])
    }

    /// Ends the scan once its duration has passed.
    mutating func endScanInTime(at now: Moment) -> [BridgeAction] {
        guard let until = scan.until, until.instant <= now.instant else { return [] }
        let publications = scanEnded(because: "its time is over", at: now)
        return [.stopScan(token: pendingCommands.spareToken())] + publish(publications)
    }

    var scanFact: Publication { .fact(topics.scan, ScanDocument(scan)) }

    /// Returns whether one of the bridge's tags has a serial.
    func isKnown(serial: String) -> Bool {
        tags.contains { $0.entry.serial == serial }
    }

    /// Returns whether several of the bridge's tags have a serial, each with its own id.
    func isShared(serial: String) -> Bool {
        tags.count { $0.entry.serial == serial } > 1
    }
}
