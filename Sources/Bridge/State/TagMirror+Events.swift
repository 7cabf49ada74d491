import JacquardProtocol
import Time

/// Applies events to the tag's state and returns what to publish.
extension TagMirror {
    /// Handles a session event, except gestures and responses.
    mutating func take(_ event: TagEvent, at now: Moment) -> [Publication] {
        if isConnected { lastSeen = now }
        switch event {
        case .connection(let connection): return connectionChanged(to: connection, at: now)
        case .information(let component): return informed(component)
        case .battery(let battery): return batteryReported(battery, at: now)
        case .gear(let gear): return gearReported(gear, at: now)
        case .touchMode(let mode): return touchModeReported(mode)
        case .touch(let touch): return [touchSample(touch, at: now)]
        case .fragmentsLost:
            counters.lostFragments += 1
            return statsChanged(at: now)
        case .gesture, .commandEnded: return []
        }
    }

    /// Counts a gesture and returns its sequence number.
    mutating func countGesture(_ name: GestureName, at now: Moment) -> UInt64 {
        lastSeen = now
        counters.lastSequence += 1
        counters.gestures.add(name)
        return counters.lastSequence
    }

    /// Handles a change of the connection: a new state is published immediately, progress within a state at most ten
    /// times a second.
    private mutating func connectionChanged(to new: TagConnection, at now: Moment) -> [Publication] {
        let isProgress = new.state.word == connection.state.word
        // The link is down: its measurements do not apply to the next one.
        if connection.state.isLinked, !new.state.isLinked { measuredSignal = nil }
        connection = new
        if isConnected { lastSeen = now }
        failure = new.error ?? (isConnected ? nil : failure)
        if isProgress {
            return progress.admits(at: now.instant) ? [connectionFact(at: now)] : []
        }
        progress.happened(at: now.instant)
        since = now
        publishedAvailability = isAvailable
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

    /// Handles device information from a notification or a response.
    mutating func informed(_ component: Component) -> [Publication] {
        self.component = component
        return [infoFact]
    }

    /// Handles the battery level from a notification or a response.
    mutating func batteryReported(_ battery: BatteryStatus, at now: Moment) -> [Publication] {
        self.battery = Timestamped(value: battery, at: now)
        if keeping.admits(at: now.instant) { keepBattery() }
        return batteryFacts
    }

    /// Stores the current battery level, so that it survives a restart.
    private mutating func keepBattery() {
        keptBattery = battery.map {
            TagRecord.Battery(
                level: $0.value.level, isCharging: $0.value.isCharging, unixMilliseconds: $0.at.unixMilliseconds)
        }
    }

    /// Handles a command that expired because the tag could not be reached.
    mutating func commandExpired() {
        isUnreached = !isConnected
    }

    /// Handles the gear from a notification or a response.
    mutating func gearReported(_ component: Component?, at now: Moment) -> [Publication] {
        gear = Timestamped(value: component, at: now)
        if let component { lastGear = TagRecord.Gear(component) } else { gearLED.goDark() }
        return [gearFact]
    }

    /// Handles the touch mode of the gear.
    mutating func touchModeReported(_ mode: TouchMode) -> [Publication] {
        touchMode = mode
        return [touchModeFact]
    }

    /// Handles facts from the Bluetooth stack.
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
            measuredSignal = Timestamped(value: rssi, at: now)
            publications += signal.admits(rssi, at: now.instant) ? [rssiFact] : []
        }
        publications += adapter == sighting.adapter ? [] : [connectionFact(at: now)]
        return publications
    }

    /// Handles a requested signal strength, which is always published.
    mutating func signalRead(_ rssi: Int, at now: Moment) -> [Publication] {
        sighting.rssi = rssi
        signal.told(rssi, at: now.instant)
        return [rssiFact]
    }

    /// Counts gestures that expired while the broker was away.
    mutating func gesturesExpired(_ count: Int, at now: Moment) -> [Publication] {
        counters.expired += UInt64(clamping: count)
        return statsChanged(at: now)
    }

    /// Handles changed statistics: publishes them now or when they are due.
    mutating func statsChanged(at now: Moment) -> [Publication] {
        stats.admits(at: now.instant) ? [statsFact(at: now)] : []
    }

    /// Handles elapsed time.
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

    /// Handles the end of the bridge.
    mutating func stop(at now: Moment) -> [Publication] {
        isOutOfService = true
        keepBattery()
        return disconnected(at: now)
    }

    /// Sets the state to disconnected. Needed where no connection was begun, because no session reports it.
    private mutating func disconnected(at now: Moment) -> [Publication] {
        let isFinal = connection.state == .disconnected
        connection = TagConnection(state: .disconnected, attempt: connection.attempt, error: connection.error)
        since = isFinal ? since : now
        publishedAvailability = isAvailable
        return [availabilityFact, connectionFact(at: now)]
    }
}

// MARK: Connection intent

extension TagMirror {
    /// Handles a disconnect by the user.
    mutating func hold() {
        intent.hold()
    }

    /// Handles a connect by the user, regardless of earlier attempts.
    mutating func release() {
        intent.release()
        if connection.state == .disconnected { intent.askAgain() }
    }

    /// Keeps the tag connected for a command.
    mutating func need(at now: Instant) {
        intent.need(at: now)
        if connection.state == .disconnected { intent.askAgain() }
    }

    /// Returns the actions that follow from a changed intent: connect or disconnect, publish, and store.
    mutating func settle(at now: Moment) -> [BridgeAction] {
        var actions: [BridgeAction] = []
        if let isToConnect = intent.change() {
            actions.append(isToConnect ? .connect(entry.id) : .disconnect(entry.id))
        }
        if !intent.isWanted, connection.state == .preparingToConnect, connection.attempt == 0 {
            actions += disconnected(at: now).map(BridgeAction.publish)
        }
        if publishedAvailability != isAvailable {
            publishedAvailability = isAvailable
            actions.append(.publish(availabilityFact))
        }
        return actions + remember()
    }

    /// Returns an action that stores the record, if it has changed.
    mutating func remember() -> [BridgeAction] {
        guard record != remembered ?? TagRecord(id: entry.id, serial: entry.serial) else { return [] }
        remembered = record
        return [.remember(record)]
    }
}

extension TagRecord.Gear {
    /// Creates the stored form of gear.
    init(_ component: Component) {
        self.init(
            vendorID: component.vendor.id.description, productID: component.product.id.description,
            name: [component.vendor.name, component.product.name].filter { !$0.isEmpty }.joined(separator: " "))
    }
}
