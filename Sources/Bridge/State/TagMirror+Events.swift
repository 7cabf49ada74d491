import JacquardProtocol
import Time

/// What happens to a tag, and what the world has to know of it.
extension TagMirror {
    /// Takes what a session told, except gestures and answers.
    mutating func take(_ event: TagEvent, at now: Moment) -> [Publication] {
        if isConnected { lastSeen = now }
        switch event {
        case .connection(let connection): return connectionChanged(to: connection, at: now)
        case .information(let component): return informed(component)
        case .battery(let battery): return batteryTold(battery, at: now)
        case .gear(let gear): return gearTold(gear, at: now)
        case .touchMode(let mode): return touchModeTold(mode)
        case .touch(let touch): return [touchSample(touch, at: now)]
        case .fragmentsLost:
            counters.lostFragments += 1
            return statsChanged(at: now)
        case .gesture, .commandEnded: return []
        }
    }

    /// Counts a gesture and gives its number.
    mutating func countGesture(_ name: GestureName, at now: Moment) -> UInt64 {
        lastSeen = now
        counters.lastSequence += 1
        counters.gestures.add(name)
        return counters.lastSequence
    }

    /// The connection is another: a new state goes out at once, progress within one at most ten times a second.
    private mutating func connectionChanged(to new: TagConnection, at now: Moment) -> [Publication] {
        let isProgress = new.state.word == connection.state.word
        // The link is gone: what was measured for it says nothing about the next one.
        if connection.state.isLinked, !new.state.isLinked { measuredSignal = nil }
        connection = new
        if isConnected { lastSeen = now }
        failure = new.error ?? (isConnected ? nil : failure)
        if isProgress {
            return progress.admits(at: now.instant) ? [connectionFact(at: now)] : []
        }
        progress.happened(at: now.instant)
        since = now
        toldAvailability = isAvailable
        return [availabilityFact, connectionFact(at: now)] + (isConnected ? cameBack(at: now) : [])
    }

    private mutating func cameBack(at now: Moment) -> [Publication] {
        isUnreached = false
        knownAddress = sighting.address ?? knownAddress
        guard wasEverConnected else {
            wasEverConnected = true
            return []
        }
        counters.reconnects += 1
        return statsChanged(at: now)
    }

    /// Takes what the tag is, told by the tag or as an answer.
    mutating func informed(_ component: Component) -> [Publication] {
        self.component = component
        return [infoFact]
    }

    /// Takes the battery, told by the tag or as an answer.
    mutating func batteryTold(_ battery: BatteryStatus, at now: Moment) -> [Publication] {
        self.battery = Told(value: battery, at: now)
        if keeping.admits(at: now.instant) { keepBattery() }
        return batteryFacts
    }

    /// The battery is to survive a restart as it is known now.
    private mutating func keepBattery() {
        keptBattery = battery.map {
            TagRecord.Battery(
                level: $0.value.level, isCharging: $0.value.isCharging, unixMilliseconds: $0.at.unixMilliseconds)
        }
    }

    /// A command has expired because the tag could not be reached.
    mutating func commandExpired() {
        isUnreached = !isConnected
    }

    /// Takes the gear, told by the tag or as an answer.
    mutating func gearTold(_ component: Component?, at now: Moment) -> [Publication] {
        gear = Told(value: component, at: now)
        if let component { lastGear = TagRecord.Gear(component) } else { gearLED.goDark() }
        return [gearFact]
    }

    /// Takes the mode that gear is in.
    mutating func touchModeTold(_ mode: TouchMode) -> [Publication] {
        touchMode = mode
        return [touchModeFact]
    }

    /// Takes what the Bluetooth stack noticed.
    mutating func sighted(_ new: TagSighting, at now: Moment) -> [Publication] {
        lastSeen = now
        isUnreached = false
        let adapter = sighting.adapter
        sighting.address = new.address ?? sighting.address
        sighting.adapter = new.adapter ?? sighting.adapter
        sighting.name = new.name ?? sighting.name
        sighting.isPaired = new.isPaired ?? sighting.isPaired
        var publications = [infoFact]
        if let rssi = new.rssi, rssi != TagSighting.signalNotAvailable {
            sighting.rssi = rssi
            measuredSignal = Told(value: rssi, at: now)
            publications += signal.admits(rssi, at: now.instant) ? [rssiFact] : []
        }
        publications += adapter == sighting.adapter ? [] : [connectionFact(at: now)]
        return publications
    }

    /// Takes the signal strength that somebody asked for; unlike one that was noticed it is always told.
    mutating func signalRead(_ rssi: Int, at now: Moment) -> [Publication] {
        sighting.rssi = rssi
        signal.told(rssi, at: now.instant)
        return [rssiFact]
    }

    /// Gestures grew too old while the broker was away.
    mutating func gesturesExpired(_ count: Int, at now: Moment) -> [Publication] {
        counters.expired += UInt64(clamping: count)
        return statsChanged(at: now)
    }

    /// The statistics are other ones: they go out now or when they are due.
    mutating func statsChanged(at now: Moment) -> [Publication] {
        stats.admits(at: now.instant) ? [statsFact(at: now)] : []
    }

    /// Time has passed.
    mutating func deadlineReached(at now: Moment) -> [Publication] {
        var publications: [Publication] = []
        if progress.isDue(at: now.instant) { publications.append(connectionFact(at: now)) }
        if stats.isDue(at: now.instant) { publications.append(statsFact(at: now)) }
        if keeping.isDue(at: now.instant) { keepBattery() }
        if let darkAt = gearLED.darkAt, darkAt <= now.instant { gearLED.goDark() }
        if let darkAt = tagLED.darkAt, darkAt <= now.instant {
            tagLED.goDark()
            publications.append(ledFact)
        }
        return publications
    }

    /// The bridge ends.
    mutating func stop(at now: Moment) -> [Publication] {
        isOutOfService = true
        keepBattery()
        return disconnected(at: now)
    }

    /// There is no link and will be none: nobody else says so where no connection was ever begun.
    private mutating func disconnected(at now: Moment) -> [Publication] {
        let isFinal = connection.state == .disconnected
        connection = TagConnection(state: .disconnected, attempt: connection.attempt, error: connection.error)
        since = isFinal ? since : now
        toldAvailability = isAvailable
        return [availabilityFact, connectionFact(at: now)]
    }
}

// MARK: What is wanted of it

extension TagMirror {
    /// The user disconnects the tag.
    mutating func hold() {
        wish.hold()
    }

    /// The user wants it connected, whatever has become of earlier attempts.
    mutating func release() {
        wish.release()
        if connection.state == .disconnected { wish.askAgain() }
    }

    /// A command needs it.
    mutating func need(at now: Instant) {
        wish.need(at: now)
        if connection.state == .disconnected { wish.askAgain() }
    }

    /// What follows from a changed wish: what to do, what to tell, and what to remember.
    mutating func settle(at now: Moment) -> [BridgeAction] {
        var actions: [BridgeAction] = []
        if let isToConnect = wish.change() { actions.append(isToConnect ? .connect(entry.id) : .disconnect(entry.id)) }
        if !wish.isWanted, connection.state == .preparingToConnect, connection.attempt == 0 {
            actions += disconnected(at: now).map(BridgeAction.publish)
        }
        if toldAvailability != isAvailable {
            toldAvailability = isAvailable
            actions.append(.publish(availabilityFact))
        }
        return actions + remember()
    }

    /// What a restart must not forget, if that has changed.
    mutating func remember() -> [BridgeAction] {
        guard record != remembered ?? TagRecord(id: entry.id, serial: entry.serial) else { return [] }
        remembered = record
        return [.remember(record)]
    }
}

extension TagRecord.Gear {
    /// What is kept of gear.
    init(_ component: Component) {
        self.init(
            vendorID: component.vendor.id.description, productID: component.product.id.description,
            name: [component.vendor.name, component.product.name].filter { !$0.isEmpty }.joined(separator: " "))
    }
}
