import JacquardProtocol
import Time

/// The state of one tag: its connection, and the latest facts that the tag or the Bluetooth stack has reported.
struct TagMirror: Sendable {
    private(set) var entry: TagEntry
    let topics: TagTopics
    /// Set by ``TagTable``.
    var handle = TagHandle.none

    var link: LinkState
    /// The latest facts from the Bluetooth stack.
    private(set) var sighting: TagSighting { didSet { memory.isSet = true } }
    private(set) var info: TagInfo
    private(set) var battery: TagBattery
    private(set) var signal = TagSignal()
    private(set) var gear: TagGear
    var lights = TagLights()
    var statistics: TagStatistics
    /// At most one; see ``rare``.
    var rareFacts: [RareFacts] = []

    /// See ``tell(_:at:_:)``.
    var features: Features
    var memory: TagMemory

    /// - Parameters:
    ///   - entry: the tag.
    ///   - record: its stored record; nil for a new tag.
    ///   - sighting: facts from the Bluetooth stack that are newer than the record; nil if there are none.
    ///   - isOutOfService: whether Bluetooth is off.
    ///   - context: the values that all tags share.
    ///   - now: the current time.
    init(
        _ entry: TagEntry, record: TagRecord?, sighting: TagSighting? = nil, isOutOfService: Bool = false,
        in context: Context, at now: Timestamp
    ) {
        self.entry = entry
        topics = context.topics.tag(entry.id)
        info = TagInfo(bridge: context.topics.instance, chords: context.options.chords.names(of: entry.id))
        statistics = TagStatistics(context.statsPayload)
        link = LinkState(
            entry.connect, isHeld: record?.isHeld ?? false, isOutOfService: isOutOfService, at: now)
        link.grace.length = context.options.offlineAfter
        battery = TagBattery(record, at: now)
        self.sighting = sighting ?? TagSighting(address: record?.address, name: record?.name?.text)
        memory = TagMemory(record: record, address: self.sighting.address)
        gear = TagGear(last: record?.lastGear)
        if let light = record?.light { lights[.tag].resumes(light, at: now) }
        features = Features(
            stored: record?.features ?? [:], context.options, isAnnounced: context.hasDiscovery)
        setUpFeatures(record, context, at: now)
    }
}

extension TagMirror {
    /// The values that all tags of a bridge share.
    struct Context: Sendable {
        let topics: BridgeTopics
        let statsPayload: StatsPayload
        let options: BridgeOptions
        /// Whether the bridge has several radios.
        let hasRadios: Bool
        /// Whether Home Assistant discovery is on.
        let hasDiscovery: Bool
    }

    /// Whether gear is attached; nil until the tag reports it.
    var isGearAttached: Bool? { gear.latest.map { $0.value != nil } }

    /// When the tag was last received; nil if not since the start.
    var lastSeen: Timestamp? { signal.lastSeen }

    /// The latest battery level in percent; nil until it is known.
    var batteryLevel: UInt32? { battery.latest.map { UInt32($0.value.level) } }

    var reflexFacts: ReflexFacts { ReflexFacts(isGearAttached: isGearAttached, batteryLevel: batteryLevel) }

    /// Whether the tag is connected.
    var isConnected: Bool { link.isConnected }

    /// Whether a held-back publication of statistics is due later.
    var isHoldingStats: Bool { statistics.deadline != nil }

    /// Returns what a command to the tag builds upon. Changes nothing, see ``nextDeadline()``.
    mutating func requestContext(_ configuration: TagRequestContext.Settings) -> TagRequestContext {
        // While the tag is away, another bridge or a phone may give it another name.
        let isNameKnown = isConnected && rareFacts.first?.unconfirmed.isNameUnknown != true
        return TagRequestContext(
            entry: entry, name: isNameKnown ? sighting.name : nil,
            lights: (lights.tag.expected, lights.gear.expected), settings: configuration,
            batteryLevel: batteryLevel, features: features)
    }

    /// Returns when the tag's next timeout is due. Changes nothing: it is mutating because an element of an array is
    /// copied for other calls, and each change of a tag is followed by this one.
    mutating func nextDeadline() -> Instant? {
        var deadline = link.deadline
        deadline.lower(to: statistics.deadline)
        deadline.lower(to: battery.deadline)
        deadline.lower(to: lights.deadline)
        deadline.lower(to: features.deadline)
        if !rareFacts.isEmpty { deadline.lower(to: rareFacts[0].nextDeadline()) }
        return deadline
    }

    /// The record for the state file.
    private var record: TagRecord {
        TagRecord(
            id: entry.id, serial: entry.serial, address: memory.address, name: sighting.name.map { ExactText($0) },
            isHeld: link.intent.isHeld,
            lastGear: gear.last, battery: battery.storedLevel, history: battery.storedHistory,
            presence: presence?.stored ?? (memory.left.contains(.presence) ? memory.record?.presence : nil),
            hasRadios: hasReceptions || memory.left.contains(.radios), light: memory.light, features: features.stored)
    }

    /// Whether `T/radios` was published.
    private var hasReceptions: Bool { radios?.rows.isEmpty == false }

    /// Stores the record if it has changed.
    mutating func store(_ effects: inout Effects) {
        // Each command asks for it, and changes nothing.
        guard
            memory.isSet || link.intent.isHeld != (memory.record?.isHeld ?? false)
                || (radios != nil && hasReceptions != (memory.record?.hasRadios ?? false))
        else { return }
        memory.isSet = false
        if record != memory.record ?? TagRecord(id: entry.id, serial: entry.serial) { storeAlways(&effects) }
    }

    /// Stores the record.
    mutating func storeAlways(_ effects: inout Effects) {
        let record = record
        memory.record = record
        effects.add(.remember(record))
    }
}

// MARK: Events of the tag

extension TagMirror {
    /// Handles a session event, except gestures and responses.
    mutating func handle(_ event: TagEvent, at now: Timestamp, _ effects: inout Effects) {
        let lastSeen = lastSeen
        if isConnected { signal.lastSeen = now }
        switch event {
        case .connection(let connection): connectionChanged(to: connection, lastSeen: lastSeen, at: now, &effects)
        case .information(let component): informationReported(component, &effects)
        case .battery(let battery): batteryReported(battery, at: now, &effects)
        case .gear(let gear): gearReported(gear, at: now, &effects)
        case .touchMode(let mode): touchModeReported(mode, at: now, &effects)
        case .touch(let touch):
            guard features.touchMode == nil else { return tell(.touch(touch), at: now, &effects) }
            effects.publish(touchSample(touch, at: now))
        case .fragmentsLost:
            statistics.counters.lostFragments += 1
            statsChanged(at: now, &effects)
        case .raw(let bytes, let view): tell(.raw(bytes, view), at: now, &effects)
        case .gesture, .motion, .notified, .commandEnded: break
        }
    }

    /// Counts a gesture and returns its sequence number, and the tag's number and topic: a debug build copies the tag to
    /// read a property.
    mutating func countGesture(
        _ name: GestureName, at now: Timestamp
    ) -> (sequence: UInt64, topic: String) {
        signal.lastSeen = now
        statistics.counters.lastSequence += 1
        statistics.counters.gestures.add(name)
        return (statistics.counters.lastSequence, topics.gesture)
    }

    /// Counts chords, and publishes the statistics unless that waits.
    mutating func countChords(_ names: [String], at now: Timestamp, _ effects: inout Effects) {
        for name in names {
            statistics.counters.lastSequence += 1
            statistics.counters.chords[name, default: 0] += 1
        }
        if !names.isEmpty { statsChanged(at: now, &effects) }
    }

    /// Handles changed chords of the configuration.
    mutating func chordsChanged(to new: [Chord], _ effects: inout Effects) {
        let names = new.names(of: entry.id)
        guard names != info.chords else { return }
        info.chords = names
        effects.publish(infoFact)
    }

    private mutating func connectionChanged(
        to new: TagConnection, lastSeen earlier: Timestamp?, at now: Timestamp, _ effects: inout Effects
    ) {
        var new = new
        let isPresenceChanged = presenceChanged(by: &new, lastSeen: earlier, at: now)
        // The link is down: its measurements do not apply to the next one.
        if link.connection.state.isLinked, !new.state.isLinked { signal.measured = nil }
        let change = link.changed(to: new, at: now)
        if isConnected { signal.lastSeen = now }
        switch change {
        case .none: break
        case .progress: effects.publish(connectionFact(at: now))
        case .state(let isReconnect):
            if isConnected { memory.address = sighting.address ?? memory.address }
            if isReconnect { statistics.counters.reconnects += 1 }
            effects.publish(availabilityFact)
            effects.publish(connectionFact(at: now))
        }
        if isPresenceChanged { effects.publish(presenceFacts) }
        guard case .state(let isReconnect) = change else { return }
        if isReconnect { statsChanged(at: now, &effects) }
        loadChanged(at: now, &effects)
    }

    /// Handles device information from a notification or a response.
    mutating func informationReported(_ component: Component, _ effects: inout Effects) {
        info.component = component
        effects.publish(infoFact)
    }

    /// Handles the battery level from a notification or a response.
    mutating func batteryReported(_ battery: BatteryStatus, at now: Timestamp, _ effects: inout Effects) {
        let forecast = self.battery.monitor.forecast
        if self.battery.reported(battery, load: load, at: now) { keepBattery() }
        effects.publish(batteryFacts)
        if self.battery.monitor.forecast != forecast { effects.publish(forecastFact) }
    }

    /// Adds the battery to the record.
    private mutating func keepBattery() {
        battery.keep()
        memory.isSet = true
    }

    /// How the tag is used now.
    private var load: BatteryHistory.Load { isConnected && gear.touchMode == .continuous ? .continuous : .gesture }

    /// Passes a changed load to the history of the battery.
    private mutating func loadChanged(at now: Timestamp, _ effects: inout Effects) {
        let forecast = battery.monitor.forecast
        battery.loadChanged(to: load, at: now)
        if battery.monitor.forecast != forecast { effects.publish(forecastFact) }
    }

    /// Handles a time of day that may have been set.
    mutating func clockChecked(at now: Timestamp, _ effects: inout Effects) {
        if battery.clockChanged(at: now) { effects.publish(forecastFact) }
    }

    /// Handles the gear from a notification or a response.
    mutating func gearReported(_ component: Component?, at now: Timestamp, _ effects: inout Effects) {
        gear.latest = Timestamped(value: component, at: now)
        if let component {
            gear.last = TagRecord.Gear(component)
            memory.isSet = true
            effects.publish(gearFact)
            return
        }
        lights[.gear].turnOff()
        tell(.gearDetached, at: now, &effects)
        effects.publish(gearFact)
        guard gear.touchMode != .gesture else { return }
        // The next gear begins with gestures.
        gear.touchMode = .gesture
        effects.publish(touchModeFact)
        loadChanged(at: now, &effects)
    }

    /// Handles the touch mode of the gear.
    mutating func touchModeReported(_ mode: TouchMode, at now: Timestamp, _ effects: inout Effects) {
        gear.touchMode = mode
        tell(.touchMode(mode), at: now, &effects)
        effects.publish(touchModeFact)
        loadChanged(at: now, &effects)
    }
}

// MARK: Other events

extension TagMirror {
    /// Handles facts from the Bluetooth stack.
    mutating func sighted(_ new: TagSighting, at now: Timestamp, _ effects: inout Effects) {
        let isFirstOfMinute = !link.connection.state.isLinked && lastSeen?.instant.minute != now.instant.minute
        signal.lastSeen = now
        link.received()
        let (adapter, radio) = (sighting.adapter, sighting.radio)
        sighting.address = new.address ?? sighting.address
        sighting.adapter = new.adapter ?? sighting.adapter
        sighting.radio = new.radio ?? sighting.radio
        if let name = new.name, !isConnected || rareFacts.first?.unconfirmed.isAdvertisedNameOld != true {
            sighting.name = name
        }
        sighting.isPaired = new.isPaired ?? sighting.isPaired
        effects.publish(infoFact)
        if let rssi = new.rssi {
            sighting.rssi = rssi
            if signal.received(rssi, at: now) { effects.publish(rssiFact) }
        }
        let isSameRadio = adapter == sighting.adapter && radio == sighting.radio
        if !isSameRadio || isFirstOfMinute { effects.publish(connectionFact(at: now)) }
        if radio != sighting.radio { effects.publish(presenceFacts) }
        if new.rssi != nil, presenceChanged(.received(rssi: new.rssi), at: now) { effects.publish(presenceFacts) }
    }

    /// Handles a requested signal strength, which is always published.
    mutating func signalRead(_ rssi: Int, at now: Timestamp, _ effects: inout Effects) {
        sighting.rssi = rssi
        signal.published(rssi, at: now.instant)
        effects.publish(rssiFact)
    }

    /// Handles a new bond.
    mutating func paired(_ sighting: TagSighting, at now: Timestamp, _ effects: inout Effects) {
        link.paired(at: now.instant)
        sighted(sighting, at: now, &effects)
    }

    /// Handles a changed name or policy of the configuration.
    mutating func change(_ new: TagEntry, at now: Timestamp, _ effects: inout Effects) {
        let isPolicyChanged = new.connect != entry.connect
        entry = new
        link.setPolicy(new.connect)
        effects.publish(infoFact)
        guard isPolicyChanged else { return }
        // The policy is part of the reason why a tag is not connected.
        effects.publish(availabilityFact)
        effects.publish(connectionFact(at: now))
    }

    /// Counts gestures that expired while the broker was away.
    mutating func gesturesExpired(_ count: Int, at now: Timestamp, _ effects: inout Effects) {
        statistics.counters.expired += UInt64(clamping: count)
        statsChanged(at: now, &effects)
    }

    /// Sets the shortest time between two publications of statistics.
    mutating func setStatsInterval(_ interval: Duration) {
        statistics.setInterval(interval)
    }

    /// Handles changed statistics: publishes them now or when they are due.
    mutating func statsChanged(at now: Timestamp, _ effects: inout Effects) {
        if let stats = takeStats(at: now) { effects.publish(stats) }
    }

    /// Returns changed statistics; nil while they wait.
    mutating func takeStats(at now: Timestamp) -> Publication? {
        statistics.admits(at: now.instant) ? statsFact(at: now) : nil
    }

    /// Handles elapsed time.
    mutating func deadlineReached(at now: Timestamp, _ effects: inout Effects) {
        if link.deadlineReached(at: now) { effects.publish(connectionFact(at: now)) }
        if link.endGrace(at: now.instant) { effects.publish(availabilityFact) }
        if radios?.isDue(at: now.instant) == true { effects.publish(radiosFact) }
        if statistics.isDue(at: now.instant) { effects.publish(statsFact(at: now)) }
        if battery.isDue(at: now.instant) { keepBattery() }
        if lights.deadlineReached(at: now.instant) { effects.publish(ledFact) }
        featuresDue(at: now, &effects)
    }

    /// Handles the end of the bridge.
    mutating func stop(at now: Timestamp, _ effects: inout Effects) {
        link.stop(at: now)
        effects.publish(availabilityFact)
        effects.publish(connectionFact(at: now))
        loadChanged(at: now, &effects)
        keepBattery()
        memory.light = lights.tag.record(at: now)
    }

    /// Does what follows from a changed intent: connects or disconnects, publishes, and stores.
    mutating func settle(at now: Timestamp, _ effects: inout Effects) {
        let settlement = link.settle(at: now)
        if let isToConnect = settlement.isToConnect {
            effects.add(isToConnect ? .connect(handle) : .disconnect(handle))
        }
        if settlement.isDisconnected { effects.publish(availabilityFact) }
        if settlement.isDisconnected || settlement.isHoldChanged { effects.publish(connectionFact(at: now)) }
        if settlement.isAvailabilityChanged { effects.publish(availabilityFact) }
        store(&effects)
    }
}

// MARK: Parts

/// The gear of a tag.
struct TagGear: Sendable {
    /// nil until the tag reports whether gear is attached.
    var latest: Timestamped<Component?>?
    /// The gear that was last attached.
    var last: TagRecord.Gear?
    /// The session sets gear to gesture mode whenever it is attached.
    var touchMode = TouchMode.gesture
}

extension TagRecord.Gear {
    /// Creates the stored form of gear.
    init(_ component: Component) {
        self.init(
            vendorID: component.vendor.id.description, productID: component.product.id.description,
            name: [component.vendor.name, component.product.name].filter { !$0.isEmpty }.joined(separator: " "))
    }
}

extension Instant {
    /// The number of the minute since the start of the machine.
    fileprivate var minute: Int64 { sinceBoot.components.seconds / 60 }
}
